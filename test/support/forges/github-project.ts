/**
 * Objects in the JSON of GitHub's REST API; addresses begin with `HERE`, which the stand-in
 * replaces.
 */
export type Json = Record<string, unknown>;

/** A repository of GitHub with all that is read of it. */
export interface GitHubProject {
  repository: Json;
  labels: Json[];
  milestones: Json[];
  /** Issues and pull requests, as the list of issues has them. */
  issues: Json[];
  /**
   * What single pull requests have besides, by number; lists leave out `merged_by` and
   * `maintainer_can_modify`.
   */
  pulls: Record<number, Json>;
  comments: Json[];
  reviews: Record<number, Json[]>;
  reviewComments: Record<number, Json[]>;
  requestedReviewers: Record<number, Json>;
  events: Record<number, Json[]>;
  /** By the path of the thing, such as `issues/1` or `pulls/comments/7`. */
  reactions: Record<string, Json[]>;
  /** Newest first. */
  releases: Json[];
  /** Of assets, by id. */
  files: Record<number, string>;
}

/** Stands for the stand-in's own origin. */
export const HERE = "https://github.example";
/** The owner and name in the sample's addresses. */
export const SAMPLE_NAME = "octo/app";
