import type { LinkBases, MarkupMode, RepoName } from "./markup-options.ts";

/**
 * What the API's `Context` says about a text.
 *
 * It is a path on this server, or a URL of it: `owner/repo`, or for files
 * `/owner/repo/src/branch/<ref>`. What follows the kind of ref counts as the ref, since only the
 * repository could tell where a branch name ends; the folder comes from `filePath`.
 * A URL of another server says nothing.
 */
export function parseContext(
  context: string,
  options: { rootUrl: string; mode: MarkupMode; filePath?: string; wiki?: boolean },
): { repo?: RepoName; links?: LinkBases } {
  const { rootUrl, mode } = options;
  const path = readPath(context, rootUrl);
  if (path === undefined) return {};
  const [owner, name, view, kind, ...ref] = path;

  // A plain document knows an address to start from, and no repository.
  if (mode === "markdown") {
    const base = [rootUrl, ...path].join("/");
    return { links: { linkBase: base, rawBase: base } };
  }
  if (owner === undefined || name === undefined) return {};
  const repo = { owner, name };
  // Comments and wikis have no place in the files.
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

/** The segments of a path on this server; undefined for none, and for another server's. */
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
