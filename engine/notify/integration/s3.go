package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/notify/delivery"
	"github.com/scf-service/service/internal/netguard"
	"github.com/scf-service/service/store"
)

const (
	putTimeout = 10 * time.Minute
	maxArchive = 8 << 30
)

// s3Bucket uploads files to a bucket.
type s3Bucket struct {
	*minio.Client
	name, prefix string
	apiClient    *apiClient
}

func (s *Service) newBucket(set *settings) (*s3Bucket, error) {
	u, err := url.Parse(set.text("endpoint"))
	if err != nil {
		return nil, errors.New("the endpoint is not a valid URL")
	}
	if u.Path != "" && u.Path != "/" {
		return nil, errors.New("the endpoint must not have a path; specify only the host, and set the bucket separately")
	}
	lookup := minio.BucketLookupDNS
	if set.flag("path_style") {
		lookup = minio.BucketLookupPath
	}
	c, err := minio.New(u.Host, &minio.Options{
		Creds:  credentials.NewStaticV4(set.secrets["access_key_id"], set.secrets["secret_access_key"], set.secrets["session_token"]),
		Secure: u.Scheme == "https", Region: set.text("region"), BucketLookup: lookup, Transport: s.uploadTransport, MaxRetries: 1,
	})
	if err != nil {
		return nil, netguard.RedactError(err)
	}
	return &s3Bucket{Client: c, name: set.text("bucket"), prefix: set.text("prefix"), apiClient: s.newAPIClient(set, "", nil, nil)}, nil
}

// objectKey returns the object key that consists of the bucket prefix and the given parts, such as the
// organization, the assessment and the file name.
func (b *s3Bucket) objectKey(parts ...string) string {
	key := strings.Join(parts, "/")
	if b.prefix != "" {
		return strings.TrimSuffix(b.prefix, "/") + "/" + key
	}
	return key
}

// toDeliveryResult converts an error from the bucket to a delivery result that contains no secrets.
func (b *s3Bucket) toDeliveryResult(ctx context.Context, err error) (int, error) {
	if err == nil {
		return http.StatusOK, nil
	}
	if ctx.Err() != nil {
		return 0, fmt.Errorf("the upload took longer than %s", putTimeout)
	}
	var answer minio.ErrorResponse
	if errors.As(err, &answer) && answer.StatusCode != 0 {
		a := responseError{
			status:      answer.StatusCode,
			message:     b.apiClient.redact(netguard.SanitizeLine(answer.Code + ": " + answer.Message)),
			rateLimited: answer.StatusCode == http.StatusTooManyRequests || answer.Code == "SlowDown",
		}
		return answer.StatusCode, &delivery.SendError{Reason: a.Error()}
	}
	return 0, b.apiClient.redactError(netguard.RedactError(err))
}

// Metadata keys of an uploaded object. The checksum that the bucket verifies is stored separately.
const (
	metaSHA   = "Sha256"
	metaEvent = "Event-Id"
)

// putFileUnlessStored uploads a file, unless an earlier attempt that was not recorded has already stored
// it under the key.
func (b *s3Bucket) putFileUnlessStored(ctx context.Context, key, event string, f *api.File) (int, error) {
	existing, err := b.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	if err == nil && existing.UserMetadata[metaEvent] == event && existing.UserMetadata[metaSHA] == f.SHA256 && existing.Size == f.Size {
		return http.StatusOK, nil
	}
	put, err := b.PutObject(ctx, b.name, key, f.Content, f.Size, minio.PutObjectOptions{
		ContentType: f.ContentType, SendContentMd5: true, UserMetadata: map[string]string{metaSHA: f.SHA256, metaEvent: event},
	})
	if err == nil && put.Size != f.Size {
		err = fmt.Errorf("the bucket stored only %d of %d bytes", put.Size, f.Size)
	}
	return b.toDeliveryResult(ctx, err)
}

// uploadExport uploads the report or assessment that an event is about.
func (s *Service) uploadExport(ctx context.Context, set *settings, r *store.Integration, payload *delivery.Payload) (int, error) {
	b, err := s.newBucket(set)
	if err != nil {
		return 0, err
	}
	f, name, err := s.openExport(ctx, r, payload)
	if err != nil {
		return 0, err
	}
	defer f.Content.Close()
	putting, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	return b.putFileUnlessStored(putting, b.objectKey(payload.OrganizationID, payload.AssessmentID, name), payload.ID, f)
}

// openExport returns the file to upload for an event, and the file's name, which follows the assessment's prefix in the
// object key.
func (s *Service) openExport(ctx context.Context, r *store.Integration, payload *delivery.Payload) (file *api.File, name string, _ error) {
	data, _ := payload.Data.(map[string]any)
	if payload.Type == "report.ready" {
		sha, _ := data["sha256"].(string)
		var report api.Report
		err := s.DB.View(ctx, func(tx *store.Tx) error {
			for one, err := range store.Reports.By("assessment").Scan(tx, payload.OrganizationID, store.Prefix(payload.AssessmentID)) {
				if err != nil {
					return err
				}
				// The report was created at the time of its event.
				if one.SHA256 == sha && (report.ID == "" || one.CreatedAt.Equal(payload.CreatedAt)) {
					report = one
				}
			}
			return nil
		})
		if err != nil {
			return nil, "", err
		}
		if report.ID == "" {
			return nil, "", &delivery.SendError{Reason: "the report was deleted before it could be uploaded", Permanent: true}
		}
		content, size, err := s.DB.Blobs().OpenFileOf(ctx, fmt.Sprintf("report %q", report.Filename), report.SHA256)
		if err != nil {
			return nil, "", err
		}
		return &api.File{
			Filename:    report.Filename,
			ContentType: contentTypeFor(report.Filename),
			Size:        size,
			SHA256:      report.SHA256,
			Content:     content,
		}, "reports/" + report.ID + "-" + report.Filename, nil
	}
	by := api.Caller{OrganizationID: r.OrganizationID, Role: api.RoleViewer, Actor: integrationActor(r)}
	f, err := s.Archives.Export(ctx, by, &api.AssessmentInput{AssessmentID: payload.AssessmentID})
	if api.IsCode(err, api.CodeNotFound) {
		return nil, "", &delivery.SendError{Reason: "the assessment was deleted before it could be uploaded", Permanent: true}
	}
	if err != nil {
		return nil, "", err
	}
	defer f.Content.Close()
	// Length and checksum are needed before the upload. No record refers to the copy, so the blob
	// sweep deletes it.
	blob, err := s.DB.Blobs().Put(ctx, f.Content, maxArchive)
	if err != nil {
		return nil, "", fmt.Errorf("writing the archive: %w", err)
	}
	content, size, err := s.DB.Blobs().Open(ctx, blob.SHA256)
	if err != nil {
		return nil, "", err
	}
	return &api.File{
		Filename:    f.Filename,
		ContentType: f.ContentType,
		Size:        size,
		SHA256:      blob.SHA256,
		Content:     content,
	}, "archives/" + payload.ID + "-" + f.Filename, nil
}

// contentTypeFor returns the media type for a report's file extension.
func contentTypeFor(name string) string {
	types := map[string]string{
		".pdf": "application/pdf", ".html": "text/html; charset=utf-8", ".md": "text/markdown; charset=utf-8",
		".csv": "text/csv; charset=utf-8", ".json": "application/json",
		".zip":  "application/zip",
		".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	}
	if t := types[path.Ext(name)]; t != "" {
		return t
	}
	return "application/octet-stream"
}

// testBucket writes a small file, reads it back and deletes it.
func (s *Service) testBucket(ctx context.Context, set *settings, r *store.Integration) (string, error) {
	b, err := s.newBucket(set)
	if err != nil {
		return "", err
	}
	key := b.objectKey(r.OrganizationID, "service-test.txt")
	content := "A test of the integration " + r.ID + ".\n"
	_, err = b.PutObject(
		ctx,
		b.name,
		key,
		bytes.NewReader([]byte(content)),
		int64(len(content)),
		minio.PutObjectOptions{ContentType: "text/plain; charset=utf-8", SendContentMd5: true},
	)
	if _, err = b.toDeliveryResult(ctx, err); err != nil {
		return "", err
	}
	object, err := b.GetObject(ctx, b.name, key, minio.GetObjectOptions{})
	if err == nil {
		var got []byte
		got, err = io.ReadAll(io.LimitReader(object, 1<<10))
		_ = object.Close()
		if err == nil && string(got) != content {
			err = errors.New("the content read back differs from the content written")
		}
	}
	words := "a test file was written, read and deleted"
	if _, err := b.toDeliveryResult(ctx, err); err != nil {
		words = "a test file was written; the file can't be read back, but that isn't required"
	}
	if err := b.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{}); err != nil {
		words += "; " + key + " could not be deleted and was left in the bucket"
	}
	return words, nil
}
