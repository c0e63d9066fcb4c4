import { sql, type SQL } from "drizzle-orm";

/**
 * The rule of `formatDuration` as an expression, for durations that a statement computes when it writes them. A test
 * compares the two.
 *
 * @param seconds An integer; a bound number is a float for D1.
 */
export function durationSql(seconds: SQL): SQL<string> {
  const words = (count: SQL, unit: string): SQL => sql`case ${count}
    when 0 then '' when 1 then ${`1 ${unit} `} else ${count} || ${` ${unit}s `}
  end`;
  const hours = sql`(${seconds} / 3600)`;
  const minutes = sql`(${seconds} / 60 % 60)`;
  return sql<string>`trim(case
    when ${seconds} < 60 then ${words(seconds, "second")}
    else ${words(hours, "hour")} || ${words(minutes, "minute")}
  end)`;
}
