//go:build !linux

package localpg

import (
	"os/exec"
	"strconv"
	"strings"
)

// isPostmaster tells whether process pid serves the cluster in dir, by its
// command line, on which Start puts the directory. The number alone proves
// nothing, for it may have been given to another process since.
func isPostmaster(pid int, dir string) bool {
	out, err := exec.Command("ps", "-ww", "-o", "stat=,command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return false
	}
	line := strings.TrimSpace(string(out))
	return !strings.HasPrefix(line, "Z") && strings.Contains(line, "postgres") && strings.Contains(line, dir)
}
