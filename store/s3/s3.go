// Package s3 stores the files of a store in a bucket of an S3-compatible service, so that several processes can
// share them.
package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/scf-service/service/store/kv"
)

const (
	defaultRegion = "us-east-1"
	// metaSize is the name of the metadata that holds the size of a blob's content. The object itself may be
	// compressed, and therefore smaller.
	metaSize = "Content-Size"
	// checkTimeout limits the check that the bucket is usable.
	checkTimeout = 30 * time.Second
)

// Bucket is a bucket, or the part of a bucket below a prefix. It implements store.Objects.
type Bucket struct {
	client       *minio.Client
	name, prefix string
}

// Open returns the bucket at an address and checks that it can be used:
//
//	s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION&path_style=true
//
// Everything after BUCKET is optional. Without an endpoint, the bucket is at AWS. The credentials are the usual
// ones for S3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile in AWS_SHARED_CREDENTIALS_FILE, or the
// role of the machine. Errors: kv.ErrUnavailable, kv.ErrReadOnly, or an error that says what is wrong with the
// address.
func Open(ctx context.Context, address string, env func(string) string) (*Bucket, error) {
	b, err := parse(address, env)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	exists, err := b.client.BucketExists(ctx, b.name)
	switch {
	case err != nil:
		return nil, toKVError(err)
	case !exists:
		return nil, fmt.Errorf("there is no bucket %q at %s; create it, or correct --blobs", b.name, b.client.EndpointURL().Host)
	}
	return b, nil
}

// parse returns the bucket at an address without connecting to it.
func parse(address string, env func(string) string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil {
		return nil, errors.New("the bucket address must have the form s3://BUCKET/PREFIX?endpoint=https://HOST, " +
			"with the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	q := u.Query()
	for name := range q {
		if name != "endpoint" && name != "region" && name != "path_style" {
			return nil, fmt.Errorf("the bucket address has the unknown setting %q; valid settings are endpoint, region and path_style", name)
		}
	}
	endpoint, err := url.Parse(cmp.Or(q.Get("endpoint"), "https://s3.amazonaws.com"))
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "https" && endpoint.Scheme != "http" ||
		strings.Trim(endpoint.Path, "/") != "" {
		return nil, errors.New("the endpoint in the bucket address must have the form https://HOST:PORT, without a path")
	}
	lookup := minio.BucketLookupAuto
	if q.Has("path_style") {
		pathStyle, err := strconv.ParseBool(q.Get("path_style"))
		if err != nil {
			return nil, errors.New("path_style in the bucket address must be true or false")
		}
		if lookup = minio.BucketLookupDNS; pathStyle {
			lookup = minio.BucketLookupPath
		}
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Timeout: checkTimeout}},
		}),
		Secure: endpoint.Scheme == "https", BucketLookup: lookup,
		Region: cmp.Or(q.Get("region"), env("AWS_REGION"), env("AWS_DEFAULT_REGION"), defaultRegion),
	})
	if err != nil {
		return nil, err
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Bucket{client: client, name: u.Host, prefix: prefix}, nil
}

// Put stores a file. contentSize is the size of its decompressed content. The bucket verifies the checksum.
func (b *Bucket) Put(ctx context.Context, name string, file *os.File, contentSize int64) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	_, err = b.client.PutObject(ctx, b.name, b.prefix+name, file, info.Size(), minio.PutObjectOptions{
		ContentType: "application/octet-stream", SendContentMd5: true,
		UserMetadata: map[string]string{metaSize: strconv.FormatInt(contentSize, 10)},
	})
	return toKVError(err)
}

// Get writes an object to a writer, or returns kv.ErrNotFound.
func (b *Bucket) Get(ctx context.Context, name string, to io.Writer) error {
	object, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return toKVError(err)
	}
	defer object.Close()
	_, err = io.Copy(to, object)
	return toKVError(err)
}

// Stat returns the time at which an object was put and the size of its content, or -1 if the size is unknown
// because another program put the object there. It returns kv.ErrNotFound if there is no such object.
func (b *Bucket) Stat(ctx context.Context, name string) (put time.Time, contentSize int64, err error) {
	info, err := b.client.StatObject(ctx, b.name, b.prefix+name, minio.StatObjectOptions{})
	if err != nil {
		return put, 0, toKVError(err)
	}
	size, err := strconv.ParseInt(info.UserMetadata[metaSize], 10, 64)
	if err != nil {
		size = -1
	}
	return info.LastModified, size, nil
}

// Copy copies an object within the bucket.
func (b *Bucket) Copy(ctx context.Context, from, to string) error {
	_, err := b.client.CopyObject(ctx,
		minio.CopyDestOptions{Bucket: b.name, Object: b.prefix + to}, minio.CopySrcOptions{Bucket: b.name, Object: b.prefix + from})
	return toKVError(err)
}

// Delete removes an object. Deleting an object that doesn't exist is not an error.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	return toKVError(b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}))
}

// List calls fn with the names of the objects that begin with a prefix, in order.
func (b *Bucket) List(ctx context.Context, prefix string, fn func(name string, put time.Time) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listing if fn fails
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
		if o.Err != nil {
			return toKVError(o.Err)
		}
		if err := fn(strings.TrimPrefix(o.Key, b.prefix), o.LastModified); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// bucketError is an error reported by the bucket.
type bucketError struct {
	kind        error // the corresponding error of package kv
	text, cause string
}

func (e *bucketError) Error() string { return e.text + " (" + e.cause + ")" }
func (e *bucketError) Unwrap() error { return e.kind }

// PublicMessage returns the error without its cause, which contains host names.
func (e *bucketError) PublicMessage() string { return e.text }

// toKVError converts an error of the S3 client to an error of package kv. Errors about the local file being uploaded or
// written are returned unchanged.
func toKVError(err error) error {
	if err == nil || errors.As(err, new(*bucketError)) || errors.As(err, new(*fs.PathError)) || errors.Is(err, context.Canceled) {
		return err
	}
	var answer minio.ErrorResponse
	hasAnswer := errors.As(err, &answer)
	e := &bucketError{kind: kv.ErrUnavailable, text: "the bucket is not available; try again", cause: err.Error()}
	switch {
	case hasAnswer && (answer.Code == "NoSuchKey" || answer.StatusCode == http.StatusNotFound):
		e.kind, e.text = kv.ErrNotFound, "not found in the bucket"
	case hasAnswer && answer.StatusCode == http.StatusForbidden:
		e.kind = kv.ErrReadOnly
		e.text = "the bucket rejected the credentials, which must allow listing the bucket and getting, putting and deleting its objects"
	case hasAnswer && answer.StatusCode == http.StatusInsufficientStorage:
		e.kind, e.text = kv.ErrDiskFull, "the bucket is full"
	}
	return e
}
