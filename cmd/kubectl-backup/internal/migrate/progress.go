// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
	"k8s.io/utils/clock"
)

const (
	// A terminal is redrawn as often as an eye can follow, other outputs get a
	// line as often as someone reads a log.
	redrawEvery = 100 * time.Millisecond
	lineEvery   = 10 * time.Second

	barWidth     = 30
	defaultWidth = 80
)

// progress shows how far the steps are: a bar on a terminal, plain lines
// elsewhere. It may be used by several goroutines at once.
type progress struct {
	out   io.Writer
	clock clock.PassiveClock
	// width is that of the terminal; 0 is none.
	width func() int

	mu    sync.Mutex
	bars  []*bar
	drawn int
	last  time.Time
}

// bar is one step.
type bar struct {
	owner       *progress
	title       string
	done, total int64
	begun       time.Time
	note        string
}

// newProgress asks whether the writer is a terminal.
func newProgress(out io.Writer, c clock.PassiveClock) *progress {
	p := &progress{out: out, clock: c, width: func() int { return 0 }}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.width = func() int {
			if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
				return width
			}
			return defaultWidth
		}
	}
	return p
}

// begin starts a step over total objects; 0 means that nobody knows how many.
func (p *progress) begin(title string, total int64) *bar {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := &bar{owner: p, title: title, total: total, begun: p.clock.Now()}
	p.bars = append(p.bars, b)
	if p.width() == 0 {
		p.last = b.begun
		p.print("%s\n", title)
	}
	return b
}

// add counts n more objects.
func (b *bar) add(n int64) { b.change(func() { b.done += n }) }

// seen is how many objects were counted.
func (b *bar) seen() int64 {
	b.owner.mu.Lock()
	defer b.owner.mu.Unlock()
	return b.done
}

// expect corrects how many objects there are.
func (b *bar) expect(total int64) { b.change(func() { b.total = total }) }

// say shows why it waits, if it does.
func (b *bar) say(note string) { b.change(func() { b.note = note }) }

func (b *bar) change(what func()) {
	p := b.owner
	p.mu.Lock()
	defer p.mu.Unlock()
	before := b.note
	what()
	width, now := p.width(), p.clock.Now()
	switch {
	case width > 0 && now.Sub(p.last) >= redrawEvery:
		p.draw(width)
	case width == 0 && (now.Sub(p.last) >= lineEvery || b.note != before && b.note != ""):
		p.line(b)
	}
}

// end closes a step. Its last line stays.
func (b *bar) end() {
	p := b.owner
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.bars = slices.DeleteFunc(p.bars, func(other *bar) bool { return other == b })
	p.print("%s: %d objects in %s\n", b.title, b.done, p.clock.Since(b.begun).Round(100*time.Millisecond))
	if width := p.width(); width > 0 {
		p.draw(width)
	}
}

func (p *progress) line(b *bar) {
	p.last = p.clock.Now()
	p.print("%s: %s%s\n", b.title, b.count(), b.noted())
}

func (b *bar) count() string {
	if b.total <= 0 {
		return fmt.Sprintf("%d objects", b.done)
	}
	return fmt.Sprintf("%d of %d objects (%d%%)", b.done, b.total, b.percent())
}

func (b *bar) noted() string {
	if b.note == "" {
		return ""
	}
	return "; " + b.note
}

func (b *bar) percent() int64 { return min(100, b.done*100/max(b.total, 1)) }

// draw writes all bars anew, each cut to one line.
func (p *progress) draw(width int) {
	p.erase()
	p.last = p.clock.Now()
	for _, b := range p.bars {
		text := []rune(fmt.Sprintf("%s %s %s%s%s", b.title, b.picture(), b.count(), p.left(b), b.noted()))
		p.print("%s\n", string(text[:min(len(text), width-1)]))
	}
	p.drawn = len(p.bars)
}

func (b *bar) picture() string {
	if b.total <= 0 {
		return "[" + strings.Repeat(".", barWidth) + "]"
	}
	filled := int(b.percent()) * barWidth / 100
	return "[" + strings.Repeat("=", filled) + strings.Repeat(" ", barWidth-filled) + "]"
}

// left guesses the time that is left from the time that was needed.
func (p *progress) left(b *bar) string {
	took := p.clock.Since(b.begun)
	if b.done == 0 || b.total <= b.done || took < 2*time.Second {
		return ""
	}
	return fmt.Sprintf(", %s left", (took * time.Duration(b.total-b.done) / time.Duration(b.done)).Round(time.Second))
}

// erase takes the bars off the terminal.
func (p *progress) erase() {
	if p.drawn > 0 {
		p.print("\x1b[%dA\x1b[J", p.drawn)
		p.drawn = 0
	}
}

// print ignores errors: there is no one left to tell.
func (p *progress) print(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format, args...) }
