/** The paths of downloadable files, below the page of a project. */
const PAGES = /^-\/(?:archive|jobs|package_files|releases)\/|^uploads\//;
/** The same below the project's path in the API. */
const RESOURCES = /^(?:packages|releases|uploads|jobs|repository\/archive)(?:[./]|$)/;

/** Where the API has a project. */
export const apiPathOf = (path: string): string => `/api/v4/projects/${encodeURIComponent(path)}`;

/**
 * Whether the token of a project's import may be sent to the address of a file.
 *
 * SECURITY: the editors of releases there choose these addresses, while the token is the importer's
 * and may read more than the project. So the address must belong to a file of this project: any
 * other on the same host could expose data here that only the importer may read.
 *
 * @param path The full path of the project.
 */
export function mayHaveToken(url: string, origin: string, path: string): boolean {
  const target = URL.parse(url);
  if (!target || target.origin !== origin || target.username !== "" || target.password !== "") {
    return false;
  }
  const resource = below(target.pathname, `${apiPathOf(path)}/`);
  if (resource !== undefined) return RESOURCES.test(resource) && !isAmbiguous(resource);
  const page = below(target.pathname, `/${path}/`);
  return page !== undefined && PAGES.test(page) && !isAmbiguous(page);
}

/** Servers may decode these before they look for what is meant, and then leave the project. */
const isAmbiguous = (path: string): boolean => /%2f|%5c|%2e|%25/i.test(path);

/** The rest of a path after a prefix; GitLab's paths are case-insensitive. */
const below = (path: string, prefix: string): string | undefined =>
  path.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase()
    ? path.slice(prefix.length)
    : undefined;
