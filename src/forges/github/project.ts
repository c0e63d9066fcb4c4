import { z } from "zod";

import { listOf, optionalShort, shortText } from "../fields.ts";
import type { ForeignProject } from "../forge.ts";
import type { GitHubApi } from "./github-api.ts";

/** @see https://docs.github.com/en/rest/repos/repos#get-a-repository */
const Repository = z.object({
  description: optionalShort,
  homepage: optionalShort,
  topics: listOf(shortText, 1000),
  default_branch: optionalShort,
  private: z.boolean(),
  archived: z.boolean(),
  clone_url: z.url(),
  html_url: z.url(),
  has_issues: z.boolean(),
  /** Missing from servers that always have them. */
  has_pull_requests: z.boolean().optional(),
});

export async function readProject({ client, path }: GitHubApi): Promise<ForeignProject> {
  const { value: repository } = await client.get(path, Repository);
  return {
    description: repository.description,
    website: repository.homepage,
    topics: repository.topics,
    defaultBranch: repository.default_branch,
    isPrivate: repository.private,
    isArchived: repository.archived,
    cloneUrl: repository.clone_url,
    htmlUrl: repository.html_url,
    tracksIssues: repository.has_issues,
    takesPulls: repository.has_pull_requests ?? true,
  };
}
