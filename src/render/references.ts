/** `@org/team`, as written. */
export interface TeamReference {
  org: string;
  team: string;
}

/** `#12`, `!12` or `owner/repo#12`; without owner and name, it is in the text's repository. */
export interface IssueReference {
  owner?: string;
  name?: string;
  index: number;
}

/**
 * 7 to 64 hex digits, or `owner/repo@…`; without owner and name, it is in the text's repository.
 */
export interface CommitReference {
  owner?: string;
  name?: string;
  /** An abbreviated or full object id, in lower-case hex. */
  prefix: string;
}

/** The possible references of a text, each once, as first written. */
export interface References {
  /**
   * Names as written. Names that differ only in case are separate references to the same account.
   */
  users: string[];
  teams: TeamReference[];
  issues: IssueReference[];
  commits: CommitReference[];
}

/**
 * The references that exist and that the reader may see, keyed by the same objects as in
 * `References`. Other references stay plain text.
 */
export interface KnownReferences {
  users: ReadonlySet<string>;
  teams: ReadonlySet<TeamReference>;
  /** The path segment of each issue's URL. */
  issues: ReadonlyMap<IssueReference, "issues" | "pulls">;
  /** The full object id of each commit. */
  commits: ReadonlyMap<CommitReference, string>;
  /** The tracker that replaces the issues of the text's repository; undefined if it has its own. */
  tracker?: Tracker | undefined;
}

/** An issue tracker elsewhere. */
export interface Tracker {
  /**
   * The URL of an issue, with `{user}` and `{repo}` for the repository and `{index}` for the issue.
   */
  format: string;
  /** How texts name its issues: `#12`, `ABC-12`, or what matches the pattern. */
  style: "numeric" | "alphanumeric" | "regexp";
  /** In the syntax of RE2; its first group is the index. */
  regexpPattern: string;
}

/** Nothing exists, or nothing may be seen. */
export const NOTHING_KNOWN: KnownReferences = {
  users: new Set(),
  teams: new Set(),
  issues: new Map(),
  commits: new Map(),
};

/**
 * Maximum number of references of one kind that are looked up per text. Later ones stay text, so
 * that a text with many mentions costs a bounded number of queries.
 */
const PER_KIND_MAX = 200;

/** Collects the references of one text. Adding equal references returns the same object. */
export class ReferenceList {
  readonly #users = new Map<string, string>();
  readonly #teams = new Map<string, TeamReference>();
  readonly #issues = new Map<string, IssueReference>();
  readonly #commits = new Map<string, CommitReference>();

  user(name: string): string | undefined {
    return addOnce(this.#users, name, name);
  }

  team(team: TeamReference): TeamReference | undefined {
    return addOnce(this.#teams, `${team.org}/${team.team}`, team);
  }

  issue(issue: IssueReference): IssueReference | undefined {
    return addOnce(this.#issues, `${issue.owner}/${issue.name}#${issue.index}`, issue);
  }

  commit(commit: CommitReference): CommitReference | undefined {
    return addOnce(this.#commits, `${commit.owner}/${commit.name}@${commit.prefix}`, commit);
  }

  get isEmpty(): boolean {
    const all = [this.#users, this.#teams, this.#issues, this.#commits];
    return all.every((kind) => kind.size === 0);
  }

  found(): References {
    return {
      users: [...this.#users.values()],
      teams: [...this.#teams.values()],
      issues: [...this.#issues.values()],
      commits: [...this.#commits.values()],
    };
  }
}

function addOnce<T>(kind: Map<string, T>, key: string, reference: T): T | undefined {
  const earlier = kind.get(key);
  if (earlier !== undefined) return earlier;
  if (kind.size >= PER_KIND_MAX) return undefined;
  kind.set(key, reference);
  return reference;
}
