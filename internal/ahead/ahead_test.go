package ahead_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// hub answers every question with the number of questions so far.
type hub struct {
	asked chan string
	hold  chan struct{}
	fails error
}

func newHub() *hub { return &hub{asked: make(chan string, 10)} }

func (h *hub) ask(ctx context.Context, question string, now time.Time) (int, error) {
	return ahead.Do(ctx, question, now, func(ctx context.Context) (int, error) {
		h.asked <- question
		if h.hold != nil {
			select {
			case <-h.hold:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		return len(h.asked), h.fails
	})
}

func (h *hub) begin(ctx context.Context, question string, now time.Time) {
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.ask(ctx, question, now) })
}

// A prefetched answer serves every read of the same question. Other questions are asked.
func TestAnAnswerIsFoundByItsQuestion(t *testing.T) {
	h := newHub()
	ctx, reads := ahead.With(t.Context(), time.Second)
	defer reads.Stop()
	h.begin(ctx, "a", noon)
	for range 2 {
		if n, err := h.ask(ctx, "a", noon); n != 1 || err != nil {
			t.Errorf("answer %d, %v", n, err)
		}
	}
	if n, _ := h.ask(ctx, "b", noon); n != 2 {
		t.Errorf("another question has answer %d", n)
	}
	if n, _ := h.ask(ctx, "b", noon); n != 3 {
		t.Errorf("what nobody asked in advance has answer %d the second time", n)
	}
}

// An answer is valid only in its context and for a limited time.
func TestWhereAnAnswerDoesNotCount(t *testing.T) {
	h := newHub()
	ctx, reads := ahead.With(t.Context(), time.Second)
	defer reads.Stop()
	h.begin(ctx, "a", noon)
	other, more := ahead.With(ctx, time.Second)
	defer more.Stop()
	for name, c := range map[string]struct {
		ctx context.Context
		at  time.Time
	}{
		"without any": {t.Context(), noon},
		"another one": {other, noon},
		"set aside":   {ahead.Without(ctx), noon},
		"too old":     {ctx, noon.Add(time.Second)},
	} {
		before := len(h.asked)
		if _, err := h.ask(c.ctx, "a", c.at); err != nil || len(h.asked) != before+1 {
			t.Errorf("%s: asked %d times more, %v", name, len(h.asked)-before, err)
		}
	}
	h.begin(ctx, "a", noon.Add(time.Second))
	if n, _ := h.ask(ctx, "a", noon.Add(time.Second)); n != len(h.asked) {
		t.Errorf("one that was begun once more has answer %d of %d", n, len(h.asked))
	}
}

// Prefetched reads run in parallel.
func TestReadsAreSideBySide(t *testing.T) {
	h := newHub()
	h.hold = make(chan struct{})
	ctx, reads := ahead.With(t.Context(), time.Second)
	defer reads.Stop()
	h.begin(ctx, "a", noon)
	h.begin(ctx, "b", noon)
	h.begin(ctx, "a", noon)
	for range 2 {
		<-h.asked // neither waits for the other's answer
	}
	close(h.hold)
	if _, err := h.ask(ctx, "a", noon); err != nil || len(h.asked) != 0 {
		t.Errorf("asked %d times more, %v", len(h.asked), err)
	}
}

// Only the first question of a Begin is asked.
func TestOneQuestionAtATime(t *testing.T) {
	h := newHub()
	ctx, reads := ahead.With(t.Context(), time.Second)
	ahead.Begin(ctx, func(ctx context.Context) {
		_, _ = h.ask(ctx, "a", noon)
		_, _ = h.ask(ctx, "b", noon)
	})
	ahead.Begin(ctx, func(context.Context) {}) // asks nothing, and Begin does not block
	ahead.Begin(ctx, func(ctx context.Context) {
		h.begin(ctx, "d", noon) // would end with the outer one
		_, _ = h.ask(ctx, "c", noon)
	})
	_, _ = h.ask(ctx, "c", noon)
	if _, err := h.ask(ctx, "a", noon); err != nil {
		t.Error(err)
	}
	reads.Stop()
	if n := len(h.asked); n != 2 {
		t.Errorf("%d were asked", n)
	}
}

// An error is an answer: what GitHub refused is not asked again.
func TestAFailureIsAnAnswer(t *testing.T) {
	h := newHub()
	h.fails = errors.New("502")
	ctx, reads := ahead.With(t.Context(), time.Second)
	defer reads.Stop()
	h.begin(ctx, "a", noon)
	if _, err := h.ask(ctx, "a", noon); !errors.Is(err, h.fails) || len(h.asked) != 1 {
		t.Errorf("asked %d times, %v", len(h.asked), err)
	}
}

// Learn takes over successful answers; failed and pending ones are asked again.
func TestAnswersAreHandedOver(t *testing.T) {
	h := newHub()
	ctx, reads := ahead.With(t.Context(), time.Second)
	h.begin(ctx, "answered", noon)
	if _, err := h.ask(ctx, "answered", noon); err != nil {
		t.Fatal(err)
	}
	h.fails = errors.New("502")
	h.begin(ctx, "refused", noon)
	_, _ = h.ask(ctx, "refused", noon)
	h.fails, h.hold = nil, make(chan struct{})
	h.begin(ctx, "under way", noon)

	next, more := ahead.With(t.Context(), time.Second)
	more.Learn(nil)
	more.Learn(reads)
	reads.Stop()
	h.hold = nil
	for question, asked := range map[string]int{"answered": 0, "refused": 1, "under way": 1} {
		before := len(h.asked)
		if _, err := h.ask(next, question, noon); err != nil || len(h.asked) != before+asked {
			t.Errorf("%s: asked %d times more, %v", question, len(h.asked)-before, err)
		}
	}
}

// Unused reads do not block Stop, and a cancelled context ends the wait for an answer.
func TestReadsEnd(t *testing.T) {
	h := newHub()
	h.hold = make(chan struct{})
	ctx, reads := ahead.With(t.Context(), time.Second)
	h.begin(ctx, "a", noon)
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := h.ask(stopped, "a", noon); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupt gives %v", err)
	}
	reads.Stop()
	var none *ahead.Reads
	none.Stop()
	if none.Into(ctx) != ctx {
		t.Error("of no reads something is found")
	}
}
