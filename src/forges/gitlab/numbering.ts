/**
 * How the two sequences of a GitLab project become one.
 *
 * It has the highest numbers of issues and merge requests at the first reading. Up to them, issues
 * keep their numbers and merge requests follow behind the last issue, as Gitea numbers them. Later
 * additions alternate behind all of these: issues at the odd distances, merge requests at the even
 * ones. So no number is assigned twice, and each follows from the numbering alone.
 */
export interface Numbering {
  readonly issueMax: number;
  readonly pullMax: number;
}

/** No sequence of GitLab's is longer: its ids are four bytes. */
const NUMBER_MAX = 2 ** 31;

/** @returns Undefined if the text is not what `formatNumbering` makes. */
export function parseNumbering(text: string): Numbering | undefined {
  const [, issues, pulls] = /^(\d{1,10})\.(\d{1,10})$/.exec(text) ?? [];
  const numbering = { issueMax: Number(issues), pullMax: Number(pulls) };
  return numbering.issueMax < NUMBER_MAX && numbering.pullMax < NUMBER_MAX ? numbering : undefined;
}

/** Such as `120.45`. */
export const formatNumbering = ({ issueMax, pullMax }: Numbering): string =>
  `${issueMax}.${pullMax}`;

/** The number here of the issue `#iid`. */
export function numberOfIssue({ issueMax, pullMax }: Numbering, iid: number): number {
  return iid <= issueMax ? iid : issueMax + pullMax + 2 * (iid - issueMax) - 1;
}

/** The number here of the merge request `!iid`. */
export function numberOfPull({ issueMax, pullMax }: Numbering, iid: number): number {
  return iid <= pullMax ? issueMax + iid : issueMax + pullMax + 2 * (iid - pullMax);
}
