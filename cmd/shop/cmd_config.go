package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type configCmd struct{}

// Run prints docs/config.md from the model that the parser itself uses, so the
// page cannot tell of a setting that is not there or leave one out.
func (configCmd) Run(e *env, k *kong.Context) error {
	return writeSettings(e.stdout, k.Model.Node)
}

// setting is one flag as a reader meets it. Commands that share it, with the
// same default and meaning, share its line.
type setting struct{ variable, flag, def, meaning string }

// section is the settings that one set of commands has in common.
type section struct {
	commands string
	settings []setting
}

const settingsHead = `# Settings

This page is the output of ` + "`shop config`" + `. Each part of the shop is a command with flags, and most flags can be set by a variable instead. A flag wins over its variable, and a variable over the default. A wrong value ends the command with exit code 2 and an error that names the setting, what it got and what it takes.

Lengths of time are written like ` + "`15s` or `1m30s`" + `, switches like ` + "`true` or `false`" + `. A setting without a default is empty or, where the table says so, required.
`

// writeSettings writes a table for each set of commands that share settings.
func writeSettings(w io.Writer, root *kong.Node) error {
	var b strings.Builder
	b.WriteString(settingsHead)
	for _, s := range settingSections(root) {
		fmt.Fprintf(&b, "\n## %s\n\n| variable | flag | default | meaning |\n| --- | --- | --- | --- |\n", s.commands)
		for _, v := range s.settings {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", v.variable, v.flag, v.def, v.meaning)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// settingSections walks the commands in the order of the help. What many
// commands share comes first.
func settingSections(root *kong.Node) []section {
	var order []setting
	users := map[setting][]string{}
	for _, command := range root.Children {
		if command.Hidden {
			continue
		}
		for _, f := range command.Flags {
			if f.Hidden {
				continue
			}
			s := describeFlag(f)
			if users[s] == nil {
				order = append(order, s)
			}
			users[s] = append(users[s], "`shop "+command.Name+"`")
		}
	}
	var sections []section
	for _, s := range order {
		commands := strings.Join(users[s], ", ")
		i := slices.IndexFunc(sections, func(known section) bool { return known.commands == commands })
		if i < 0 {
			sections = append(sections, section{commands: commands})
			i = len(sections) - 1
		}
		sections[i].settings = append(sections[i].settings, s)
	}
	slices.SortStableFunc(sections, func(a, b section) int {
		return strings.Count(b.commands, ",") - strings.Count(a.commands, ",")
	})
	return sections
}

func describeFlag(f *kong.Flag) setting {
	s := setting{flag: code("--" + f.Name), meaning: cell(f.Help)}
	if len(f.Envs) > 0 {
		s.variable = code(f.Envs[0])
	}
	switch {
	case f.HasDefault:
		s.def = code(f.Default)
	case f.Required:
		s.def = "required"
	case f.IsBool():
		s.def = "off"
	}
	return s
}

func code(s string) string { return "`" + cell(s) + "`" }

// cell keeps a text from ending its cell of the table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
