/** Languages that are shown by name; the others are one share. */
const NAMES_MAX = 8;

/** The name of the share of all languages that are not named. */
const OTHERS = "Other";

/** The color of what linguist gives none, in both color schemes. */
const NO_COLOR = "#818b98";

/** The share of a language in the code of a repository. */
export interface LanguageShare {
  readonly name: string;
  /** Of all languages, in percent. */
  readonly percent: number;
  /** As SVG has it. */
  readonly color: string;
}

/**
 * The shares of the largest languages, and of all others together.
 *
 * @param languages Bytes of each, the largest first.
 */
export function toShares(
  languages: readonly (readonly [name: string, bytes: number])[],
  colors: Readonly<Record<string, string>>,
): LanguageShare[] {
  const sumOf = (list: typeof languages): number => list.reduce((sum, [, bytes]) => sum + bytes, 0);
  const total = sumOf(languages);
  // One language more takes no more room than the others together.
  const count = languages.length > NAMES_MAX + 1 ? NAMES_MAX : languages.length;
  const others = sumOf(languages.slice(count));
  const listed =
    others === 0 ? languages : [...languages.slice(0, count), [OTHERS, others] as const];
  return listed.map(([name, bytes]) => ({
    name,
    percent: (100 * bytes) / total,
    color: colors[name] ?? NO_COLOR,
  }));
}

/** A bar of the languages of a repository, and their names and shares as a list. */
export function LanguageBar({ shares }: { shares: readonly LanguageShare[] }) {
  let start = 0;
  return (
    <>
      <svg class="languages" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        {shares.map(({ percent, color }) => {
          const x = start;
          start += percent;
          return <rect x={x.toFixed(2)} width={percent.toFixed(2)} height="1" fill={color} />;
        })}
      </svg>
      <ul class="links" aria-label="Languages">
        {shares.map(({ name, percent, color }) => (
          <li>
            <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
              <circle cx="8" cy="8" r="6" fill={color} />
            </svg>
            {name === OTHERS ? (
              name
            ) : (
              <a href={`/explore/repos?language=${encodeURIComponent(name)}`}>{name}</a>
            )}{" "}
            <span class="soft">{`${formatPercent(percent)}%`}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** A share with one decimal, which never reads as none. */
const formatPercent = (percent: number): string => (percent < 0.1 ? "< 0.1" : percent.toFixed(1));
