import { boundedList } from "../../lib/bounded.ts";
import { absoluteFiles } from "../absolute-files.ts";
import { ApiClient } from "../api-client.ts";
import { cloneUrlOf, openAddress } from "../open-address.ts";
import type {
  ForeignLabel,
  ForeignMilestone,
  ForeignProject,
  ForeignRelease,
  ForgeReader,
} from "../forge.ts";
import type { ForgeAccess, ForgeAddress } from "../forge-address.ts";
import { optional } from "../optional.ts";
import type { PageReaders } from "../page-readers.ts";
import type { GogsProject } from "./gogs-project.ts";
import { readComments, readIssues, userOf } from "./issues.ts";
import { GogsLabel, GogsMilestone, GogsRelease, GogsRepository } from "./shapes.ts";

/**
 * Reads projects of Gogs, whose API is the beginning of Gitea's: it has no pull requests, reviews,
 * reactions and assets of releases, and its lists, but for issues, have no pages.
 */
export function openGogs(
  { outgoing, now, answers }: ForgeAccess,
  address: ForgeAddress,
): ForgeReader {
  const { baseUrl, headers, path, rootUrl } = openAddress(address);
  const client = new ApiClient(outgoing, { baseUrl, headers, now, answers });
  const project: GogsProject = { client, path, rootUrl };
  const none = async () => ({ items: [], next: undefined });
  const all = <T>(items: readonly T[]) => ({ items, next: undefined, total: items.length });
  const readers: PageReaders = {
    labels: async () => all(await readLabels(project)),
    milestones: async () => all(await readMilestones(project, now())),
    issues: (cursor, filter) => readIssues(project, cursor, filter),
    pulls: none,
    comments: (cursor, filter) => readComments(project, cursor, filter),
    reviews: none,
    releases: async () => all(await readReleases(project)),
  };
  return {
    service: "gogs",
    readProject: () => readProject(project, address),
    readPage: (kind, cursor, filter) => readers[kind](cursor, filter),
    headersFor: (url) => (client.isOwn(url) ? headers : {}),
  };
}

const LIST_MAX = 10_000;

async function readProject(
  { client, path }: GogsProject,
  address: ForgeAddress,
): Promise<ForeignProject> {
  const { value } = await client.get(path, GogsRepository);
  return {
    description: value.description,
    website: value.website,
    topics: [],
    defaultBranch: value.default_branch,
    isPrivate: value.private,
    isArchived: false,
    cloneUrl: cloneUrlOf(client, value.clone_url, address),
    htmlUrl: value.html_url,
    // The API has no such setting; projects have both unless they are turned off.
    tracksIssues: true,
    takesPulls: true,
  };
}

async function readLabels({ client, path }: GogsProject): Promise<ForeignLabel[]> {
  const { value } = await client.get(`${path}/labels`, boundedList(GogsLabel, LIST_MAX).nullable());
  return (value ?? []).map((label) => ({
    foreignId: String(label.id),
    name: label.name,
    color: label.color.replace(/^#/, ""),
    description: "",
    isExclusive: false,
    isArchived: false,
  }));
}

async function readMilestones(
  { client, path }: GogsProject,
  now: number,
): Promise<ForeignMilestone[]> {
  const shape = boundedList(GogsMilestone, LIST_MAX).nullable();
  const { value } = await client.get(`${path}/milestones`, shape);
  return (value ?? []).map((milestone) => {
    const isClosed = milestone.state === "closed";
    // The API has no time of creation.
    const at = (isClosed ? milestone.closed_at : null) ?? now;
    return {
      foreignId: String(milestone.id),
      title: milestone.title,
      description: milestone.description,
      deadlineAt: milestone.due_on,
      isClosed,
      closedAt: isClosed ? milestone.closed_at : null,
      createdAt: at,
      updatedAt: at,
    };
  });
}

/** Oldest first. Versions before 0.13 have no list of releases. */
async function readReleases({ client, path, rootUrl }: GogsProject): Promise<ForeignRelease[]> {
  const shape = boundedList(GogsRelease, LIST_MAX).nullable();
  const answer = await optional(client.get(`${path}/releases`, shape));
  return (answer?.value ?? [])
    .toSorted((a, b) => a.created_at - b.created_at || a.id - b.id)
    .map((release) => ({
      foreignId: String(release.id),
      tagName: release.tag_name,
      target: release.target_commitish,
      title: release.name,
      body: absoluteFiles(release.body, rootUrl),
      isDraft: release.draft,
      isPrerelease: release.prerelease,
      publisher: userOf(release.author),
      createdAt: release.created_at,
      assets: [],
    }));
}
