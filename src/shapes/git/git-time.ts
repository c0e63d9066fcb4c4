import { zoneMinutes } from "../../git/object/identity.ts";
import { formatTime } from "../../lib/time.ts";
import { NEVER } from "../json.ts";

/** The last second of the year 9999, after which RFC 3339 has no times. */
const SECONDS_MAX = 253_402_300_799;
const DAY_SECONDS = 86_400;

/** Formats a time of a commit or tag in UTC; `NEVER` for a time after the year 9999. */
export const formatGitTime = (seconds: number): string =>
  seconds <= SECONDS_MAX ? formatTime(seconds * 1000) : NEVER;

/**
 * A time of a commit or tag in milliseconds, for what can't say that there is none: 0 for a time
 * after the year 9999.
 */
export const gitTimeMs = (seconds: number): number => (seconds <= SECONDS_MAX ? seconds * 1000 : 0);

/** Formats a time of a commit in its zone; in UTC if the zone is a day or more away. */
export function formatZonedGitTime(seconds: number, zone: string): string {
  const offset = zoneMinutes(zone);
  const isPlain = offset === 0 || Math.abs(offset) * 60 >= DAY_SECONDS;
  if (isPlain || seconds + DAY_SECONDS > SECONDS_MAX) return formatGitTime(seconds);
  const local = formatTime((seconds + offset * 60) * 1000).slice(0, -1);
  // A zone may say 99 minutes, which RFC 3339 does not.
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${local}${offset < 0 ? "-" : "+"}${hours}:${minutes}`;
}
