import type { Contributions } from "../../../domain/exchange/activities/list-activities.ts";
import { formatTime } from "../../../lib/time.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const WEEKS = 53;
/** Shades above none. */
const LEVELS = 4;
/** Units of the drawing from one day to the next. */
const STEP = 13;
/** Units above the days, for the names of months. */
const TOP = 16;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

interface HeatmapProps {
  contributions: readonly Contributions[];
  now: number;
}

/**
 * The contributions of a year, a square for each day in UTC, in columns of weeks; and their numbers
 * by month, for readers who do not see the squares.
 */
export function Heatmap({ contributions, now }: HeatmapProps) {
  const today = Math.floor(now / DAY_MS);
  // January 1, 1970 was a Thursday: weeks begin on Sundays.
  const first = today - ((today + 4) % 7) - (WEEKS - 1) * 7;
  const counts = countByDay(contributions, first);
  const days = Array.from({ length: today - first + 1 }, (_, at) => first + at);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const most = Math.max(1, ...counts.values());
  const label = `${total} contribution${total === 1 ? "" : "s"} in the last year`;
  const months = countByMonth(counts, days);
  return (
    <section class="box heatmap" aria-label="Contributions">
      <h2 class="box-head">{label}</h2>
      <div class="scroll inside" tabindex={0} role="region" aria-label="Calendar of contributions">
        <svg
          viewBox={`0 0 ${WEEKS * STEP} ${TOP + 7 * STEP}`}
          width={WEEKS * STEP}
          height={TOP + 7 * STEP}
          role="img"
          aria-label={label}
        >
          {months.flatMap(({ name, startsAt }) =>
            startsAt === undefined ? (
              []
            ) : (
              <text x={Math.floor((startsAt - first) / 7) * STEP} y={TOP - 5}>
                {name.slice(0, 3)}
              </text>
            ),
          )}
          <EmptyDays lastWeekDays={((today - first) % 7) + 1} />
          {[...counts].map(([day, count]) => (
            <rect
              x={Math.floor((day - first) / 7) * STEP}
              y={TOP + ((day - first) % 7) * STEP}
              class={`day level-${Math.ceil((count * LEVELS) / most)}`}
            >
              <title>{`${count} on ${dateOf(day)}`}</title>
            </rect>
          ))}
        </svg>
      </div>
      <details>
        <summary>By month</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Month</th>
              <th scope="col">Contributions</th>
            </tr>
          </thead>
          <tbody>
            {months.map(({ name, count }) => (
              <tr>
                <th scope="row">{name}</th>
                <td>{count}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  );
}

/** A square for each day, as one pattern: most days of most calendars are empty. */
function EmptyDays({ lastWeekDays }: { lastWeekDays: number }) {
  const fill = "url(#empty-day)";
  const weeks = WEEKS - 1;
  return (
    <>
      <pattern id="empty-day" width={STEP} height={STEP} y={TOP} patternUnits="userSpaceOnUse">
        <rect class="day" />
      </pattern>
      <rect y={TOP} width={weeks * STEP} height={7 * STEP} fill={fill} />
      <rect x={weeks * STEP} y={TOP} width={STEP} height={lastWeekDays * STEP} fill={fill} />
    </>
  );
}

/** The date of a day that is counted from 1970. */
const dateOf = (day: number): string => formatTime(day * DAY_MS).slice(0, 10);

/** Contributions by their days from `first` on. */
function countByDay(contributions: readonly Contributions[], first: number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { timestamp, contributions: count } of contributions) {
    const day = Math.floor((timestamp * 1000) / DAY_MS);
    if (day >= first) counts.set(day, (counts.get(day) ?? 0) + count);
  }
  return counts;
}

interface Month {
  /** Such as "Jan 2026". */
  readonly name: string;
  count: number;
  /** The first day; undefined for a month of which only the end is shown. */
  readonly startsAt: number | undefined;
}

function countByMonth(counts: ReadonlyMap<number, number>, days: readonly number[]): Month[] {
  const months = new Map<string, Month>();
  for (const day of days) {
    const [year = "", month = "", ofMonth = ""] = dateOf(day).split("-");
    const name = `${MONTHS[Number(month) - 1]} ${year}`;
    const known = months.get(name) ?? {
      name,
      count: 0,
      startsAt: ofMonth === "01" ? day : undefined,
    };
    known.count += counts.get(day) ?? 0;
    months.set(name, known);
  }
  return [...months.values()];
}
