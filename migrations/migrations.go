// Package migrations embeds the schema of shop: numbered, forward-only SQL
// files, each with a comment that says why it exists.
package migrations

import "embed"

// Files holds every NNNN_verb_noun.sql of this folder.
//
//go:embed *.sql
var Files embed.FS
