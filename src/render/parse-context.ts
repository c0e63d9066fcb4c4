import type { LinkBases, MarkupMode, RepoName } from "./markup-options.ts";

/**
 * Parses the `Context` of a text in the API: the repository, and the bases of relative links.
 *
 * It is a path or URL on this server: `owner/repo`, or for files `/owner/repo/src/branch/<ref>`.
 * Everything after the kind of ref is taken as the ref, since the end of a branch name is known
 * only to the repository; the folder is that of `filePath`. A URL of another server is ignored.
 */
export function parseContext(
  context: string,
  options: { rootUrl: string; mode: MarkupMode; filePath?: string; wiki?: boolean },
): { repo?: RepoName; links?: LinkBases } {
  const { rootUrl, mode } = options;
  const path = readPath(context, rootUrl);
  if (path === undefined) return {};
  const [owner, name, view, kind, ...ref] = path;

  // A plain document has a base URL, but no repository.
  if (mode === "markdown") {
    const base = [rootUrl, ...path].join("/");
    return { links: { linkBase: base, rawBase: base } };
  }
  if (owner === undefined || name === undefined) return {};
  const repo = { owner, name };
  // Comments and wikis are not in the repository's files.
  if (mode === "comment" || mode === "wiki" || options.wiki === true) return { repo };

  const repoUrl = `${rootUrl}/${owner}/${name}`;
  const isAtRef = view === "src" && kind !== undefined && REF_KINDS.has(kind) && ref.length > 0;
  const at = isAtRef ? [kind, ...ref].join("/") : undefined;
  const folder = options.filePath?.split("/").slice(0, -1).filter(isSegment).join("/");
  return {
    repo,
    links: {
      linkBase: at === undefined ? repoUrl : `${repoUrl}/src/${at}`,
      rawBase: at === undefined ? repoUrl : `${repoUrl}/media/${at}`,
      ...(folder ? { folder } : {}),
    },
  };
}

const REF_KINDS: ReadonlySet<string> = new Set(["branch", "tag", "commit"]);

/** The segments of a path on this server; undefined if there are none, and for another server. */
function readPath(context: string, rootUrl: string): string[] | undefined {
  let path = context.trim();
  if (path === rootUrl || path.startsWith(`${rootUrl}/`)) path = path.slice(rootUrl.length);
  else if (/^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(path)) return undefined;
  const segments = path.split("/").filter(isSegment);
  return segments.length > 0 ? segments : undefined;
}

function isSegment(segment: string): boolean {
  return segment !== "" && segment !== "." && segment !== "..";
}
