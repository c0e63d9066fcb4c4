/** Formats a time for the API: RFC 3339 in UTC, to the second (`2026-01-31T08:15:00Z`). */
export function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** Like `formatTime`, but returns null for null. */
export function formatTimeOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : formatTime(milliseconds);
}

/** A Unix time in seconds, with an offset from UTC. */
export interface ZonedTime {
  readonly seconds: number;
  /** Offset from UTC, such as `+0200`. */
  readonly zone: string;
}

/** @param text RFC 3339, well-formed. */
export function parseZonedTime(text: string): ZonedTime {
  const [, hours = "+00", minutes = "00"] = /([+-]\d\d):?(\d\d)$/.exec(text) ?? [];
  return { seconds: Math.floor(Date.parse(text) / 1000), zone: hours + minutes };
}
