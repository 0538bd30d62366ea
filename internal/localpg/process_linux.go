package localpg

import (
	"os"
	"strconv"
)

// isPostmaster tells whether process pid serves the cluster in dir: a server
// makes its data directory its working directory. The number alone proves
// nothing, for it may have been given to another process since (in a container
// it usually has). A process that has ended but not been reaped does not count.
func isPostmaster(pid int, dir string) bool {
	cwd, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return false
	}
	want, err := os.Stat(dir)
	return err == nil && os.SameFile(cwd, want)
}
