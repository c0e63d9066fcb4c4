import { zoneMinutes, type Identity } from "./identity.ts";

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;
const MONTHS = [
  "Jan",
  "Feb",
  "Mar",
  "Apr",
  "May",
  "Jun",
  "Jul",
  "Aug",
  "Sep",
  "Oct",
  "Nov",
  "Dec",
] as const;

/**
 * Maximum time of a JavaScript `Date`, in seconds. Later times are formatted as the epoch, as git
 * formats times out of range.
 */
const SECONDS_MAX = 8_640_000_000_000;

/**
 * Date formats: git's default, e-mail, ISO 8601 as git writes it or strictly, and the date alone.
 */
export type DateStyle = "git" | "email" | "iso" | "iso-strict" | "day";

/** Formats the time of an identity in its own time zone. */
export function formatDate({ timeSeconds, zone }: Identity, style: DateStyle): string {
  const isKnown = timeSeconds <= SECONDS_MAX;
  const minutes = isKnown ? zoneMinutes(zone) : 0;
  const at = new Date((isKnown ? timeSeconds : 0) * 1000 + minutes * 60_000);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = DAYS[at.getUTCDay()];
  const month = MONTHS[at.getUTCMonth()];
  const year = at.getUTCFullYear();
  const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(two).join(":");
  const offset = minutes === 0 ? "+0000" : zone;
  const date = `${String(year).padStart(4, "0")}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`;
  switch (style) {
    case "git":
      return `${day} ${month} ${at.getUTCDate()} ${time} ${year} ${offset}`;
    case "email":
      return `${day}, ${at.getUTCDate()} ${month} ${year} ${time} ${offset}`;
    case "iso":
      return `${date} ${time} ${offset}`;
    case "iso-strict":
      return `${date}T${time}${minutes === 0 ? "Z" : `${offset.slice(0, 3)}:${offset.slice(3)}`}`;
    default:
      return date;
  }
}
