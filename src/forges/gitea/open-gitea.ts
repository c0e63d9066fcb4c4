import { ApiClient } from "../api-client.ts";
import type { ForeignProject, ForgeReader } from "../forge.ts";
import type { ForgeAccess, ForgeAddress } from "../forge-address.ts";
import type { PageReaders } from "../page-readers.ts";
import { readComments } from "./comments.ts";
import type { GiteaProject } from "./gitea-project.ts";
import { readIssues } from "./issues.ts";
import { readLabels, readMilestones } from "./labels.ts";
import { ListPages } from "./list-pages.ts";
import { cloneUrlOf, openAddress } from "../open-address.ts";
import { readPulls } from "./pulls.ts";
import { readReleases } from "./releases.ts";
import { readReviews } from "./reviews.ts";
import { GiteaRepository, Topics } from "./shapes.ts";

/** Reads projects of Gitea, Forgejo and other services with their API, such as this one. */
export function openGitea(
  { outgoing, now, answers }: ForgeAccess,
  address: ForgeAddress,
): ForgeReader {
  const { baseUrl, headers, path, owner, rootUrl } = openAddress(address);
  const client = new ApiClient(outgoing, { baseUrl, headers, now, answers });
  const project: GiteaProject = { client, lists: new ListPages(client), path, owner, rootUrl };
  const readers: PageReaders = {
    labels: (cursor) => readLabels(project, cursor),
    milestones: (cursor) => readMilestones(project, cursor, now()),
    issues: (cursor, filter) => readIssues(project, cursor, filter),
    pulls: (cursor, filter) => readPulls(project, cursor, filter),
    comments: (cursor, filter) => readComments(project, cursor, filter),
    reviews: (cursor, filter) => readReviews(project, cursor, filter),
    releases: (cursor) => readReleases(project, cursor),
  };
  return {
    service: "gitea",
    readProject: () => readProject(project, address),
    readPage: (kind, cursor, filter) => readers[kind](cursor, filter),
    headersFor: (url) => (client.isOwn(url) ? headers : {}),
  };
}

async function readProject(
  { client, path }: GiteaProject,
  address: ForgeAddress,
): Promise<ForeignProject> {
  const { value } = await client.get(path, GiteaRepository);
  const topics = value.topics ?? (await client.get(`${path}/topics`, Topics)).value.topics;
  return {
    description: value.description,
    website: value.website,
    topics,
    defaultBranch: value.default_branch,
    isPrivate: value.private,
    isArchived: value.archived,
    cloneUrl: cloneUrlOf(client, value.clone_url, address),
    htmlUrl: value.html_url,
    tracksIssues: value.has_issues,
    takesPulls: value.has_pull_requests,
  };
}
