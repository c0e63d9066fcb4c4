import { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import { optionalLong, optionalShort, shortText } from "../fields.ts";
import type { ForeignFilter, ForeignPage, ForeignProject } from "../forge.ts";
import type { BodyContext } from "./bodies.ts";
import type { GitLabCursor, NextCursor, PartCursor } from "./cursor.ts";
import { formatNumbering, type Numbering } from "./numbering.ts";
import { isAbsent, type Requests } from "./requests.ts";
import { Iid } from "./shapes.ts";

/** A project as one page of it is read. */
export interface GitLabProject extends BodyContext {
  readonly requests: Requests;
  /** The origin of the server. */
  readonly origin: string;
  /** Where its paths in the API begin. */
  readonly root: string;
  /** Whether it is read without a token. */
  readonly isAnonymous: boolean;
}

/** A page as the reader of a kind returns it. */
export interface GitLabPage<T> extends Omit<ForeignPage<T>, "next"> {
  readonly next: NextCursor | undefined;
}

/**
 * Items of one issue or merge request, and where the next ones of it begin; undefined after the
 * last.
 */
export interface PartPage<T> {
  readonly items: readonly T[];
  readonly next: PartCursor | undefined;
}

/** Reads a page of a kind. */
export type ReadPage<T> = (
  project: GitLabProject,
  cursor: GitLabCursor,
  filter: ForeignFilter,
) => Promise<GitLabPage<T>>;

/** Without a token GitLab omits the levels and, in older versions, the visibility. */
const Project = z.object({
  path_with_namespace: shortText,
  description: optionalLong,
  default_branch: optionalShort,
  visibility: shortText.default("public"),
  archived: z.boolean().default(false),
  http_url_to_repo: shortText,
  web_url: shortText,
  topics: boundedList(shortText, 1000).optional(),
  /** The older name of `topics`. */
  tag_list: boundedList(shortText, 1000).default([]),
  issues_access_level: shortText.optional(),
  merge_requests_access_level: shortText.optional(),
});

/**
 * Reads what a project is, and decides its numbering unless it is decided.
 *
 * @param given The numbering that was decided before.
 */
export async function readProject(
  requests: Requests,
  root: string,
  given: Numbering | undefined,
): Promise<ForeignProject> {
  const { value } = await requests.get(root, Project);
  const issueMax = await findNumberMax(requests, `${root}/issues`, value.issues_access_level);
  const pullMax = await findNumberMax(
    requests,
    `${root}/merge_requests`,
    value.merge_requests_access_level,
  );
  const numbering = given ?? { issueMax: issueMax ?? 0, pullMax: pullMax ?? 0 };
  return {
    description: value.description,
    website: "",
    topics: value.topics ?? value.tag_list,
    defaultBranch: value.default_branch,
    isPrivate: value.visibility !== "public",
    isArchived: value.archived,
    cloneUrl: value.http_url_to_repo,
    htmlUrl: value.web_url,
    tracksIssues: issueMax !== undefined,
    takesPulls: pullMax !== undefined,
    numbering: formatNumbering(numbering),
  };
}

/** Decides the numbering of a project whose reader was opened without one. */
export async function decideNumbering(requests: Requests, root: string): Promise<Numbering> {
  const issueMax = await findNumberMax(requests, `${root}/issues`, undefined);
  const pullMax = await findNumberMax(requests, `${root}/merge_requests`, undefined);
  return { issueMax: issueMax ?? 0, pullMax: pullMax ?? 0 };
}

/**
 * The highest number of a project's issues or merge requests; undefined if it has none of them for
 * this caller.
 *
 * GitLab orders by time only, and an issue that was moved to the project keeps the time of its
 * creation, so the issues that changed last are read too. An issue that is missed nevertheless is
 * numbered as if it was added later.
 *
 * @param level The access level there; undefined if GitLab doesn't state it.
 */
async function findNumberMax(
  requests: Requests,
  path: string,
  level: string | undefined,
): Promise<number | undefined> {
  if (level === "disabled") return undefined;
  try {
    const lists = ["created_at", "updated_at"].map((order) =>
      requests.get(path, boundedList(z.object({ iid: Iid }), 100), {
        scope: "all",
        state: "all",
        order_by: order,
        sort: "desc",
        per_page: 100,
      }),
    );
    const numbers = (await Promise.all(lists)).flatMap(({ value }) => value.map(({ iid }) => iid));
    return Math.max(0, ...numbers);
  } catch (error) {
    if (level === undefined && isAbsent(error)) return undefined;
    throw error;
  }
}
