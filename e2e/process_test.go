package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// process is one line of what runs on this machine.
type process struct {
	pid, parent int
	command     string // with its arguments
}

// processes lists what runs on this machine: from /proc, or by ps where there
// is none. Processes that have ended and only wait to be reaped do not count.
func processes() []process {
	if entries, err := filepath.Glob("/proc/[0-9]*"); err == nil && len(entries) > 0 {
		return processesOfProc(entries)
	}
	out, err := exec.Command("ps", "-axww", "-o", "pid=,ppid=,stat=,command=").Output()
	if err != nil {
		return nil
	}
	var all []process
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || strings.HasPrefix(f[2], "Z") {
			continue
		}
		pid, _ := strconv.Atoi(f[0])
		parent, _ := strconv.Atoi(f[1])
		all = append(all, process{pid, parent, strings.Join(f[3:], " ")})
	}
	return all
}

func processesOfProc(entries []string) []process {
	var all []process
	for _, dir := range entries {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // it has ended meanwhile
		}
		// The name, in parentheses, may hold anything; what follows is plain (proc(5)).
		end := bytes.LastIndexByte(stat, ')')
		f := strings.Fields(string(stat[end+1:]))
		if len(f) < 2 || f[0] == "Z" || f[0] == "X" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		parent, _ := strconv.Atoi(f[1])
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		all = append(all, process{pid, parent, strings.TrimSpace(string(bytes.ReplaceAll(command, []byte{0}, []byte{' '})))})
	}
	return all
}

// family returns the demo's processes: its own and everything below it.
func (d *demo) family() []process {
	all := processes()
	in := map[int]bool{d.cmd.Process.Pid: true}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if in[p.parent] && !in[p.pid] {
				in[p.pid], grown = true, true
			}
		}
	}
	var family []process
	for _, p := range all {
		if in[p.pid] {
			family = append(family, p)
		}
	}
	return family
}

// child returns the process of one part of the demo, such as "worker".
func (d *demo) child(part string) (process, bool) {
	for _, p := range processes() {
		if p.parent == d.cmd.Process.Pid && p.command == d.bin+" "+part {
			return p, true
		}
	}
	return process{}, false
}

// remaining returns those of the processes that still run. A number that was
// given to another program since does not count.
func remaining(family []process) []process {
	var left []process
	now := map[int]process{}
	for _, p := range processes() {
		now[p.pid] = p
	}
	for _, p := range family {
		// PostgreSQL's processes rewrite their command lines as they work.
		if n, ok := now[p.pid]; ok && firstWord(n.command) == firstWord(p.command) {
			left = append(left, n)
		}
	}
	return left
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}
