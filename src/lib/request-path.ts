/**
 * The path without empty segments and without a slash at its end, as routes are written.
 *
 * Clients join a base address and a path, and some of them double the slash between the two. An
 * encoded slash (`%2F`) is part of a name and stays.
 */
export const collapseSlashes = (path: string): string =>
  path.replaceAll(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");

/** The percent-encoded path of a request's URL, without empty segments. */
export const requestPath = (url: string): string => collapseSlashes(new URL(url).pathname);
