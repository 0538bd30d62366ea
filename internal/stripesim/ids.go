package stripesim

import (
	crand "crypto/rand"
	"math/rand/v2"
	"sync"
)

const idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// idSource makes Stripe-like ids. They are unguessable enough for client secrets
// in a simulator and cost no system call each.
type idSource struct {
	mu  sync.Mutex
	rng *rand.ChaCha8
}

func newIDSource() *idSource {
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // documented never to fail
	return &idSource{rng: rand.NewChaCha8(seed)}
}

// id returns prefix followed by n random letters and digits.
func (s *idSource) id(prefix string, n int) string {
	buf := make([]byte, len(prefix)+n)
	copy(buf, prefix)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(prefix); i < len(buf); {
		for bits, left := s.rng.Uint64(), 10; left > 0 && i < len(buf); left-- {
			if c := bits & 63; c < 62 { // drop 62 and 63 so that all letters are equally likely
				buf[i] = idAlphabet[c]
				i++
			}
			bits >>= 6
		}
	}
	return string(buf)
}
