package backupschedule

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// creationTime returns when a folder was created, or "" if that isn't known.
func creationTime(dir string) string {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 || st.Btime.Sec == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%09d", st.Btime.Sec, st.Btime.Nsec)
}
