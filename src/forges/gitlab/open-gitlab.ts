import { ApiClient } from "../api-client.ts";
import type { ForgeAccess, ForgeAddress } from "../forge-address.ts";
import type {
  ForeignFilter,
  ForeignItems,
  ForeignKind,
  ForeignPage,
  ForeignProject,
  ForgeReader,
} from "../forge.ts";
import { readComments } from "./comments.ts";
import { formatCursor, parseCursor } from "./cursor.ts";
import { mayHaveToken } from "./download-headers.ts";
import { readIssues } from "./issues.ts";
import { readLabels } from "./labels.ts";
import { readMilestones } from "./milestones.ts";
import { formatNumbering, type Numbering, parseNumbering } from "./numbering.ts";
import { parseProjectUrl } from "./project-url.ts";
import { decideNumbering, type ReadPage, readProject } from "./project.ts";
import { readPulls } from "./pulls.ts";
import { readReleases } from "./releases.ts";
import { Requests } from "./requests.ts";
import { readReviews } from "./reviews.ts";

/**
 * Opens a reader of a GitLab project, of version 13.4 or later, at the root of its host.
 *
 * @param address   The password is a token with the scope `read_api`, since GitLab's API takes no
 *                  passwords; "" to read what is public. The user name is `oauth2` for a token of
 *                  OAuth; others are ignored.
 * @param numbering The value that `readProject` returned first; undefined before.
 * @throws RemoteFailure `blocked` or `not_found` if the address can't be that of a project.
 * @throws Error if the numbering is none of this reader's.
 */
export const openGitLab = (
  access: ForgeAccess,
  address: ForgeAddress,
  numbering?: string,
): ForgeReader => new GitLabReader(access, address, numbering);

const READERS: { readonly [K in ForeignKind]: ReadPage<ForeignItems[K]> } = {
  labels: readLabels,
  milestones: readMilestones,
  issues: readIssues,
  pulls: readPulls,
  comments: readComments,
  reviews: readReviews,
  releases: readReleases,
};

class GitLabReader implements ForgeReader {
  readonly service = "gitlab";
  private readonly api: ApiClient;
  private readonly origin: string;
  private readonly path: string;
  private readonly root: string;
  private readonly headers: Readonly<Record<string, string>>;
  private numbering: Numbering | undefined;

  constructor({ outgoing, now, answers }: ForgeAccess, address: ForgeAddress, numbering?: string) {
    const { origin, path } = parseProjectUrl(address.url);
    this.origin = origin;
    this.path = path;
    this.root = `/projects/${encodeURIComponent(path)}`;
    this.headers = headersOf(address);
    this.numbering = numberingOf(numbering);
    const { headers } = this;
    const baseUrl = `${origin}/api/v4`;
    this.api = new ApiClient(outgoing, { baseUrl, headers, now, answers });
  }

  async readProject(): Promise<ForeignProject> {
    const project = await readProject(new Requests(this.api), this.root, this.numbering);
    this.numbering = numberingOf(project.numbering);
    return project;
  }

  async readPage<K extends ForeignKind>(
    kind: K,
    cursor: string | undefined,
    filter: ForeignFilter,
  ): Promise<ForeignPage<ForeignItems[K]>> {
    const requests = new Requests(this.api);
    const from = cursor === undefined ? undefined : parseCursor(cursor);
    const numbering =
      this.numbering ??
      numberingOf(from?.numbering) ??
      (await decideNumbering(requests, this.root));
    this.numbering = numbering;
    const project = {
      requests,
      root: this.root,
      isAnonymous: Object.keys(this.headers).length === 0,
      numbering,
      projectPath: this.path,
      origin: this.origin,
      webUrl: `${this.origin}/${this.path}`,
    };
    const decided = formatNumbering(numbering);
    const start = from ?? parseCursor(formatCursor({ numbering: decided }));
    const { next, ...page } = await READERS[kind](project, start, filter);
    return { ...page, next: next && formatCursor({ ...next, numbering: decided }) };
  }

  headersFor(url: string): Readonly<Record<string, string>> {
    return mayHaveToken(url, this.origin, this.path) ? this.headers : {};
  }
}

/** @throws Error if the text is not what the reader returned. */
function numberingOf(text: string | undefined): Numbering | undefined {
  if (text === undefined) return undefined;
  const numbering = parseNumbering(text);
  if (!numbering) throw new Error("the numbering is none of a GitLab project");
  return numbering;
}

/** @see https://docs.gitlab.com/api/rest/authentication/ */
function headersOf({ username, password }: ForgeAddress): Record<string, string> {
  if (password === "") return {};
  return username === "oauth2"
    ? { Authorization: `Bearer ${password}` }
    : { "PRIVATE-TOKEN": password };
}
