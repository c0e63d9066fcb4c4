/** A moment as the API writes it: RFC 3339 in UTC, to the second (`2026-01-31T08:15:00Z`). */
export function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** The same, where null means that there is no such moment. */
export function formatTimeOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : formatTime(milliseconds);
}
