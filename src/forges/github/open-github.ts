import { encodeUtf8 } from "../../git/byte-text.ts";
import { formatBase64 } from "../../lib/base64.ts";
import { ApiClient } from "../api-client.ts";
import type { ForgeAccess, ForgeAddress } from "../forge-address.ts";
import type { ForgeReader } from "../forge.ts";
import type { PageReaders } from "../page-readers.ts";
import { readComments } from "./comments.ts";
import type { GitHubApi } from "./github-api.ts";
import { parseGitHubAddress } from "./github-address.ts";
import { readIssues } from "./issues.ts";
import { readLabels } from "./labels.ts";
import { readMilestones } from "./milestones.ts";
import { readProject } from "./project.ts";
import { readPulls } from "./pulls.ts";
import { readReleases } from "./releases.ts";
import { readReviews } from "./reviews.ts";

/** The version of the API whose documentation this reader follows. */
const API_VERSION = "2022-11-28";

/**
 * Opens a repository of GitHub, or of a GitHub Enterprise Server, by its REST API. Without
 * credentials GitHub answers 60 requests in an hour.
 *
 * @throws RemoteFailure `not_found` if the address can't be that of a repository.
 */
export function openGitHub(
  { outgoing, now, answers }: ForgeAccess,
  address: ForgeAddress,
): ForgeReader {
  const { apiUrl, path } = parseGitHubAddress(address.url);
  const headers = {
    ...authorizationOf(address),
    "X-GitHub-Api-Version": API_VERSION,
  };
  const client = new ApiClient(outgoing, {
    baseUrl: apiUrl,
    headers: { ...headers, Accept: "application/vnd.github+json" },
    now,
    answers,
  });
  const api: GitHubApi = { client, path };
  const readers: PageReaders = {
    labels: (cursor) => readLabels(api, cursor),
    milestones: (cursor) => readMilestones(api, cursor),
    issues: (cursor, filter) => readIssues(api, cursor, filter),
    pulls: (cursor, filter) => readPulls(api, cursor, filter),
    comments: (cursor, filter) => readComments(api, cursor, filter),
    reviews: (cursor, filter) => readReviews(api, cursor, filter),
    releases: (cursor) => readReleases(api, cursor),
  };
  return {
    service: "github",
    readProject: () => readProject(api),
    readPage: (kind, cursor, filter) => readers[kind](cursor, filter),
    // SECURITY: the remote chooses an asset's address; the credentials go to the API alone. It
    // redirects to a host of files, to which the guarded client does not send them.
    headersFor: (url) =>
      isBelow(url, apiUrl) ? { ...headers, Accept: "application/octet-stream" } : {},
  };
}

/**
 * GitHub takes tokens as the password of any name too; of passwords themselves only servers of old
 * know.
 */
function authorizationOf({ username, password }: ForgeAddress): Record<string, string> {
  if (password === "") return {};
  const value =
    username === ""
      ? `Bearer ${password}`
      : `Basic ${formatBase64(encodeUtf8(`${username}:${password}`))}`;
  return { Authorization: value };
}

function isBelow(text: string, apiUrl: string): boolean {
  const url = URL.parse(text);
  const base = new URL(apiUrl);
  const folder = base.pathname.replace(/\/*$/, "/");
  return url !== null && url.origin === base.origin && url.pathname.startsWith(folder);
}
