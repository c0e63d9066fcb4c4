/** `@org/team`, as written. */
export interface TeamReference {
  org: string;
  team: string;
}

/** `#12`, `!12` or `owner/repo#12`; without owner and name it belongs to the text's repository. */
export interface IssueReference {
  owner?: string;
  name?: string;
  index: number;
}

/** 7 to 64 hex digits, or `owner/repo@…`; without owner and name it belongs to the text's repository. */
export interface CommitReference {
  owner?: string;
  name?: string;
  /** Lower-case hex digits: an abbreviated or a full object id. */
  prefix: string;
}

/** What a text seems to refer to: each thing once, as it is written first. */
export interface References {
  /** Names as written; names of accounts differ by more than case. */
  users: string[];
  teams: TeamReference[];
  issues: IssueReference[];
  commits: CommitReference[];
}

/**
 * The references that exist and that the reader may see, keyed by the very objects that were asked.
 * What is missing here stays plain text.
 */
export interface KnownReferences {
  users: ReadonlySet<string>;
  teams: ReadonlySet<TeamReference>;
  /** With the path segment that the number lives under. */
  issues: ReadonlyMap<IssueReference, "issues" | "pulls">;
  /** With the full object id. */
  commits: ReadonlyMap<CommitReference, string>;
}

/**
 * Most references of one kind that a text may ask about. Later ones stay text, so that a page of
 * mentions costs a bounded number of queries.
 */
const PER_KIND_MAX = 200;

/** Collects the references of one text, and answers with one object for equal references. */
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

  /** Undefined when the text holds none. */
  found(): References | undefined {
    const all = [this.#users, this.#teams, this.#issues, this.#commits];
    if (all.every((kind) => kind.size === 0)) return undefined;
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
