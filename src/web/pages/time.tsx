import { formatTime } from "../../lib/time.ts";

/** A time in UTC, to the minute; a script writes it by the zone of the reader. */
export function Time({ at }: { at: number }) {
  const text = formatTime(at);
  return <time dateTime={text}>{`${text.slice(0, 10)} ${text.slice(11, 16)} UTC`}</time>;
}

/** A day, by which something is due: `2026-01-31`. Days of UTC, as clients of the API send them. */
export function Day({ at }: { at: number }) {
  return <>{formatTime(at).slice(0, 10)}</>;
}
