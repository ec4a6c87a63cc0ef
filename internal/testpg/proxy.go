package testpg

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Proxy stands between a program and a PostgreSQL server, and reads what they say: it counts, delays,
// holds and loses it.
type Proxy struct {
	listen net.Listener
	served sync.WaitGroup

	mu      sync.Mutex
	moved   sync.Cond // frozen or closed has changed, or a connection was cut
	network string
	address string // of the server
	latency time.Duration
	frozen  bool
	closed  bool
	hook    func(Flight) string
	conns   map[*proxied]bool
	opened  int
	flights int
}

// Flight is what a program sends on one connection before it waits for the answer.
type Flight struct {
	N    int    // counts the flights of all connections, from 1
	Conn int    // counts the connections, from 1
	SQL  string // the statements, or what else it is in brackets
	Done bool   // the server has answered, and the program has not heard it yet
	Open bool   // the connection is in a transaction, which its end would roll back
}

// OpenProxy opens a proxy on a TCP port of this machine, before the server of a database.
func OpenProxy(database string) (*Proxy, error) {
	p := &Proxy{conns: map[*proxied]bool{}}
	p.moved.L = &p.mu
	if err := p.Target(database); err != nil {
		return nil, err
	}
	var err error
	if p.listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil { //nolint:noctx // opens at once
		return nil, err
	}
	p.served.Go(p.accept)
	return p, nil
}

// Target sends connections from now on to the server of another database.
func (p *Proxy) Target(database string) error {
	config, err := pgconn.ParseConfig(database)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.network, p.address = pgconn.NetworkAddress(config.Host, config.Port)
	return nil
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.listen.Addr().String() }

// Through returns the URL of a database by way of the proxy.
func (p *Proxy) Through(database string) string {
	u, err := url.Parse(database)
	if err != nil {
		panic(err) // the tests' own URL
	}
	u.Host = p.Address()
	q := u.Query()
	q.Del("host")
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	return u.String()
}

// Delay holds what is sent for a while, in each direction.
func (p *Proxy) Delay(each time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.latency = each
}

// OnFlight is called before each flight reaches the server, and again, Done, before the program hears
// the answer. It may cut, freeze and kill. If it returns an SQLSTATE for a flight of statements, the
// server fails with that instead.
func (p *Proxy) OnFlight(hook func(Flight) (sqlstate string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hook = hook
}

// Flights is how many there were since the proxy was opened or this was reset.
func (p *Proxy) Flights() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flights
}

// Reset begins to count again.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flights = 0
}

// Cut resets all connections. What was under way is lost; the server ends their sessions.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.close()
	}
	p.moved.Broadcast()
}

// EndSessions has the server end the sessions of all connections, as it does when they were silent for too long. While
// the proxy is frozen, the program does not hear of it.
func (p *Proxy) EndSessions() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if c.server != nil {
			_ = c.server.Close()
		}
	}
}

// Freeze lets no byte pass, and keeps the connections, until Thaw.
func (p *Proxy) Freeze() { p.freeze(true) }

// Thaw ends Freeze.
func (p *Proxy) Thaw() { p.freeze(false) }

func (p *Proxy) freeze(frozen bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = frozen
	p.moved.Broadcast()
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() error {
	err := p.listen.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Cut()
	p.served.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.opened++
		c := &proxied{proxy: p, n: p.opened, client: client, texts: map[string]string{}, answered: true}
		p.conns[c] = true
		p.mu.Unlock()
		p.served.Go(func() {
			c.serve()
			p.mu.Lock()
			c.close()
			delete(p.conns, c)
			p.mu.Unlock()
		})
	}
}

// proxied is one connection. Its proxy's lock guards what both directions use.
type proxied struct {
	proxy  *Proxy
	n      int
	client net.Conn
	server net.Conn
	gone   bool

	answered bool   // the server has sent something since the last flight
	open     bool   // the server is in a transaction, as the last answer says
	flight   Flight // the last one
	texts    map[string]string
}

// close resets the connection. The proxy is locked.
func (c *proxied) close() {
	if c.gone {
		return
	}
	c.gone = true
	if tcp, ok := c.client.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.client.Close()
	if c.server != nil {
		_ = c.server.Close()
	}
}

// passes waits while the proxy is frozen, and reports whether the connection is still there.
func (c *proxied) passes() bool {
	p := c.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.frozen && !c.gone && !p.closed {
		p.moved.Wait()
	}
	return !c.gone && !p.closed
}

func (c *proxied) serve() {
	from := bufio.NewReader(c.client)
	opening, err := c.opening(from)
	if err != nil || !c.passes() {
		return
	}
	p := c.proxy
	p.mu.Lock()
	network, address := p.network, p.address
	p.mu.Unlock()
	server, err := net.Dial(network, address) //nolint:noctx // it is on this machine
	if err != nil {
		return
	}
	p.mu.Lock()
	c.server = server
	if c.gone {
		_ = server.Close()
	}
	p.mu.Unlock()
	var ways sync.WaitGroup
	ways.Go(func() { c.carry(server, func() ([]byte, error) { return c.request(from, &opening) }) })
	to := bufio.NewReader(server)
	ways.Go(func() { c.carry(c.client, func() ([]byte, error) { return c.answer(to) }) })
	ways.Wait()
}

// opening reads the first message, which has no type, and refuses encryption.
func (c *proxied) opening(from *bufio.Reader) ([]byte, error) {
	const cancel, plain = 80877102, 196608
	for {
		message, err := sized(from, nil)
		if err != nil {
			return nil, err
		}
		if len(message) < 8 {
			return nil, errors.New("no opening of PostgreSQL's protocol")
		}
		switch code := binary.BigEndian.Uint32(message[4:]); {
		case code == cancel, code>>16 == plain>>16:
			return message, nil
		}
		if _, err := c.client.Write([]byte("N")); err != nil {
			return nil, err
		}
	}
}

// carry sends on what next reads, each piece as late as the proxy says, until one side is gone.
func (c *proxied) carry(to io.Writer, next func() ([]byte, error)) {
	type piece struct {
		due  <-chan time.Time
		data []byte
	}
	pieces := make(chan piece, 1024)
	var writing sync.WaitGroup
	writing.Go(func() {
		for one := range pieces {
			<-one.due
			if !c.passes() {
				continue
			}
			if _, err := to.Write(one.data); err != nil {
				c.drop()
			}
		}
	})
	for {
		data, err := next()
		if err != nil {
			break
		}
		c.proxy.mu.Lock()
		due := time.After(c.proxy.latency)
		c.proxy.mu.Unlock()
		pieces <- piece{due, data}
	}
	close(pieces)
	writing.Wait()
	c.passes() // of a frozen connection neither side hears that it has ended
	c.drop()
}

func (c *proxied) drop() {
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	c.close()
}

// request reads messages up to one that the server answers, and tells of them before they are sent.
func (c *proxied) request(from *bufio.Reader, opening *[]byte) ([]byte, error) {
	if first := *opening; first != nil {
		*opening = nil
		c.begins("[open]")
		return first, nil
	}
	var data []byte
	var said []string
	for {
		message, err := typed(from)
		if err != nil {
			return nil, err
		}
		data = append(data, message...)
		body := message[5:]
		switch message[0] {
		case 'P':
			name, rest := text(body)
			statement, _ := text(rest)
			c.texts[name] = statement
		case 'B':
			_, rest := text(body)
			name, _ := text(rest)
			said = append(said, c.texts[name])
		case 'Q':
			statement, _ := text(body)
			if state := c.begins(statement); state != "" {
				return failing(state), nil
			}
			return data, nil
		case 'S', 'H':
			if len(said) == 0 {
				said = []string{"[prepare] " + c.texts[""]}
			}
			if state := c.begins(strings.Join(said, "; ")); state != "" && message[0] == 'S' {
				return failing(state), nil
			}
			return data, nil
		case 'X':
			c.begins("[end]")
			return data, nil
		case 'p':
			c.begins("[password]")
			return data, nil
		case 'd', 'c', 'f': // a copy, or a replica that follows: nobody answers
			return data, nil
		}
	}
}

// failing is a statement that fails with an SQLSTATE, and so ends the transaction that it is in.
func failing(sqlstate string) []byte {
	statement := fmt.Sprintf(`DO $$ BEGIN RAISE EXCEPTION 'this is a test' USING ERRCODE = '%s'; END $$`, sqlstate)
	message := binary.BigEndian.AppendUint32([]byte("Q"), uint32(4+len(statement)+1)) //nolint:gosec // it is short
	return append(append(message, statement...), 0)
}

// begins counts a flight, unless the server has said nothing since the last.
func (c *proxied) begins(sql string) (sqlstate string) {
	p := c.proxy
	p.mu.Lock()
	if c.answered {
		c.answered = false
		p.flights++
		c.flight = Flight{N: p.flights, Conn: c.n, Open: c.open}
	}
	c.flight.SQL = sql
	flight, hook := c.flight, p.hook
	p.mu.Unlock()
	if hook == nil {
		return ""
	}
	return hook(flight)
}

// answer reads messages of the server up to the end of an answer, or as many as are there.
func (c *proxied) answer(from *bufio.Reader) (data []byte, err error) {
	for {
		message, err := typed(from)
		if err != nil {
			return nil, err
		}
		data = append(data, message...)
		p := c.proxy
		p.mu.Lock()
		c.answered = true
		const ready, idle = 'Z', 'I'
		if message[0] == ready {
			c.open = message[5] != idle
		}
		flight, hook := c.flight, p.hook
		flight.Open = c.open
		p.mu.Unlock()
		if message[0] == ready {
			if flight.Done = true; hook != nil {
				hook(flight)
			}
			return data, nil
		}
		if from.Buffered() == 0 {
			return data, nil
		}
	}
}

// typed reads a message with a type.
func typed(from *bufio.Reader) ([]byte, error) {
	kind, err := from.ReadByte()
	if err != nil {
		return nil, err
	}
	return sized(from, []byte{kind})
}

// sized reads a length, and what is that long with it.
func sized(from *bufio.Reader, head []byte) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(length[:]))
	if n < 4 || n > 1<<30 {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	message := append(head, make([]byte, n)...)
	copy(message[len(head):], length[:])
	_, err := io.ReadFull(from, message[len(head)+4:])
	return message, err
}

// text splits a message's first text off, which ends with a zero.
func text(body []byte) (first string, rest []byte) {
	first, after, _ := strings.Cut(string(body), "\x00")
	return first, []byte(after)
}
