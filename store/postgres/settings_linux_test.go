package postgres

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/postgrestest"
)

// certificate returns a self-signed certificate for an IP address, and its key, both PEM.
func certificate(t testing.TB, address string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(address)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// TestConnectionSettings connects over TCP with TLS modes, a password file, a pool size and a schema, in the form in which
// docs/postgresql.md describes them.
func TestConnectionSettings(t *testing.T) {
	server := postgrestest.NewServer(t)
	admin := connect(t, server.URL("grc"))
	exec(t, admin, `CREATE ROLE few LOGIN PASSWORD 'sesame words'`)
	exec(t, admin, `CREATE SCHEMA grc AUTHORIZATION few`)
	server.Stop(t, "fast")
	// Addresses of this process only, so that the usual port is free.
	network := fmt.Sprintf("127.%d.%d.", 1+os.Getpid()>>8&0x7f, os.Getpid()&0xff)
	address, other := network+"1", network+"2"
	cert, key := certificate(t, address)
	stranger, _ := certificate(t, address)
	server.WriteFile(t, "data/pg_hba.conf", []byte("local all all trust\nhostssl all all all scram-sha-256\n"))
	server.Start(t, "-c", "listen_addresses="+address+","+other, "-c", "ssl=on",
		"-c", "ssl_cert_file="+server.WriteFile(t, "server.crt", cert), "-c", "ssl_key_file="+server.WriteFile(t, "server.key", key))

	folder := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	authority, strangers := file("ca.pem", string(cert)), file("stranger.pem", string(stranger))
	passwords := file("pgpass", "*:5432:postgres:few:sesame words\n")
	settings := func(host string, pairs ...string) string {
		q := url.Values{"schema": {"grc"}, "pool_max_conns": {"2"}, "passfile": {passwords}}
		for i := 0; i+1 < len(pairs); i += 2 {
			q.Set(pairs[i], pairs[i+1])
		}
		return "postgres://few@" + host + "/postgres?" + q.Encode()
	}
	for i, good := range []string{
		settings(address, "sslmode", "verify-full", "sslrootcert", authority),
		settings(other, "sslmode", "verify-ca", "sslrootcert", authority),
		settings(other, "sslmode", "require"),
	} {
		db := open(t, good)
		wantErr(t, "update", add(t.Context(), db, "|"), nil)
		want(t, "value", get(t, db), strings.Repeat("|", i+1))
		want(t, "connections of the pool", db.pool.Config().MaxConns, int32(2))
	}
	var wg sync.WaitGroup
	for bad, says := range map[string]string{
		settings(other, "sslmode", "verify-full", "sslrootcert", authority):                                     other,
		settings(address, "sslmode", "verify-full", "sslrootcert", strangers):                                   "certificate",
		settings(address, "sslmode", "disable"):                                                                 "no pg_hba.conf entry",
		settings(address, "sslmode", "require", "passfile", file("wrong", "*:5432:postgres:few:open sesame\n")): "password authentication failed",
	} {
		wg.Go(func() {
			_, err := Open(t.Context(), Options{URL: bad})
			if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "sesame") {
				t.Errorf("%s: %v", bad, err)
			}
		})
	}
	wg.Wait()
}
