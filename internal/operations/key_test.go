package operations_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"shop/internal/operations"
)

// The vectors were computed with Node.js; ours must match byte for byte.
func TestKeysMatchTheVectors(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/opkey.json")
	require.NoError(t, err)
	var file struct {
		Vectors []struct {
			Kind         string `json:"kind"`
			IdentityJSON string `json:"identity_json"`
			Canonical    string `json:"canonical"`
			OpKey        string `json:"op_key"`
		} `json:"vectors"`
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	require.Greater(t, len(file.Vectors), 30)
	for _, v := range file.Vectors {
		key, canonical, err := operations.Derive(v.Kind, []byte(v.IdentityJSON))
		require.NoError(t, err, v.IdentityJSON)
		require.Equal(t, v.Canonical, string(canonical))
		require.Equal(t, v.OpKey, string(key), v.IdentityJSON)
	}
}

func TestAStructAndItsJSONHaveOneKey(t *testing.T) {
	t.Parallel()
	type refund struct {
		RefundID string `json:"refundId"`
		OrderID  int64  `json:"orderId"`
	}
	fromStruct, _, err := operations.Derive("refund", refund{RefundID: "re-1", OrderID: 1042})
	require.NoError(t, err)
	require.Equal(t, operations.Key("96ee9d6a38b9c2e7220dab74ebf182f25bffb2b1c44e1748cdec993d3e15b4e7"), fromStruct)
	fromMap, _, err := operations.Derive("refund", map[string]any{"refundId": "re-1", "orderId": 1042})
	require.NoError(t, err)
	require.Equal(t, fromStruct, fromMap)
}

func TestIdentitiesThatWouldShareAKeyAreRefused(t *testing.T) {
	t.Parallel()
	for name, identity := range map[string]any{
		"integer beyond 2^53-1":         map[string]any{"orderId": int64(1<<53 + 1)},
		"integer 2^53":                  []byte(`{"orderId":9007199254740992}`),
		"negative":                      []byte(`[-9007199254740993]`),
		"written with a zero fraction":  []byte(`{"orderId":9007199254740993.0}`),
		"largest int64":                 map[string]any{"a": math.MaxInt64},
		"uint64":                        map[string]any{"a": uint64(math.MaxUint64)},
		"too large for a double":        []byte(`1e400`),
		"invalid UTF-8 in a Go string":  map[string]any{"name": "caf\xe9"},
		"invalid UTF-8 in JSON":         []byte("{\"name\":\"caf\xe9\"}"),
		"lone surrogate":                []byte(`{"name":"\ud800"}`),
		"the same member twice":         []byte(`{"a":1,"a":2}`),
		"not JSON":                      []byte(`{orderId:1}`),
		"two values":                    []byte(`1 2`),
		"nothing":                       []byte(``),
		"NaN, which JSON does not have": math.NaN(),
		"a channel, which JSON has not": make(chan int),
		"an integer deep in the value":  map[string]any{"a": []any{map[string]any{"b": int64(math.MinInt64)}}},
	} {
		key, _, err := operations.Derive("charge", identity)
		require.Error(t, err, name)
		require.Empty(t, key, name)
	}
	_, _, err := operations.Derive("charge", map[string]any{"orderId": int64(1<<53 + 1)})
	require.ErrorContains(t, err, "9007199254740993")
	require.ErrorContains(t, err, "string")
}

// docs/peers.md row 15: one key was used for two endpoints.
func TestRow15_EachCallHasItsOwnKey(t *testing.T) {
	t.Parallel()
	key, _, err := operations.Derive("charge", map[string]any{"orderId": 1, "attempt": 1})
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, call := range []string{"create", "confirm", "capture", "cancel", "refund"} {
		sent := key.Call(call).String()
		require.False(t, seen[sent])
		require.LessOrEqual(t, len(sent), 255)
		require.True(t, strings.HasPrefix(sent, string(key)))
		seen[sent] = true
	}
}

// The order of members and white space never matter; a different value always does.
func TestKeyDependsOnTheValueAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOf(rapid.StringMatching(`[a-zA-Z0-9é€😀]{0,8}`), rapid.Int64Range(-(1<<53-1), 1<<53-1)).Draw(t, "identity")
		compact, err := json.Marshal(m)
		require.NoError(t, err)
		indented, err := json.MarshalIndent(m, " ", "\t")
		require.NoError(t, err)
		a, _, err := operations.Derive("k", compact)
		require.NoError(t, err)
		b, _, err := operations.Derive("k", indented)
		require.NoError(t, err)
		require.Equal(t, a, b)
		m["one more"] = 1
		c, _, err := operations.Derive("k", m)
		require.NoError(t, err)
		require.NotEqual(t, a, c)
	})
}

func FuzzDerive(f *testing.F) {
	f.Add("charge", []byte(`{"orderId":1042}`))
	f.Add("", []byte(`[1e21,-0,"\u20ac"]`))
	f.Fuzz(func(t *testing.T, kind string, identity []byte) {
		key, canonical, err := operations.Derive(kind, identity)
		if err != nil {
			return
		}
		again, canonicalAgain, err := operations.Derive(kind, canonical)
		require.NoError(t, err)
		require.Equal(t, key, again)
		require.Equal(t, canonical, canonicalAgain)
	})
}
