export type Json = Record<string, unknown>;

/** A project as GitLab's API shows it to an account: each object has GitLab's own fields. */
export interface GitLabProjectData {
  project: Json & { id: number; path_with_namespace: string; visibility: string };
  /** Paths that it had before. */
  formerPaths: string[];
  /** Projects from which its merge requests come. */
  forks: (Json & { id: number })[];
  labels: Json[];
  /** Those of its groups have a `group_id`. */
  milestones: Json[];
  issues: Issuable[];
  /** With the fields that only a single one has, such as `diff_refs`. */
  mergeRequests: Issuable[];
  /** Of issues by their `iid`, in the order of their creation. */
  notes: Record<number, Json[]>;
  /** Of merge requests by their `iid`. */
  discussions: Record<number, { id: string; individual_note: boolean; notes: Json[] }[]>;
  approvals: Record<number, Json>;
  reviewers: Record<number, Json[]>;
  /** By the path that they are about: `issues/1`, `merge_requests/2/notes/30`. */
  awards: Record<string, Json[]>;
  releases: Json[];
  /** What else is served to a token of it, by its path on the server. */
  files: Record<string, string>;
}

export type Issuable = Json & {
  id: number;
  iid: number;
  created_at: string;
  updated_at: string;
  labels: Json[];
};
