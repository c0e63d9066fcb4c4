import { RemoteFailure } from "../../outgoing/remote-failure.ts";

/** Where a project is. */
export interface ProjectUrl {
  /** The origin of the server, which is at the root of its host. */
  readonly origin: string;
  /** The full path: the groups and the project, joined by slashes. */
  readonly path: string;
}

/** A part of a path: GitLab has letters, digits, and these. */
const NAME = /^[\p{L}\p{N}_.-]{1,255}$/u;

/** GitLab has at most 20 groups inside each other. */
const DEPTH_MAX = 22;

/**
 * Reads the address of a project's page or of its repository, such as
 * `https://gitlab.com/group/sub/project.git`.
 *
 * @throws RemoteFailure `blocked` if it is no address, `not_found` if it can't be that of a
 *   project.
 */
export function parseProjectUrl(text: string): ProjectUrl {
  const url = URL.parse(text);
  if (!url) throw new RemoteFailure("blocked", "this is no address");
  const names = decoded(url.pathname.replace(/^\/+|\/+$/g, "").replace(/\.git$/, "")).split("/");
  const isProject = names.length >= 2 && names.length <= DEPTH_MAX && names.every(isName);
  if (!isProject) {
    throw new RemoteFailure("not_found", "an address of a GitLab project is /group/project");
  }
  return { origin: url.origin, path: names.join("/") };
}

/** `-` is no name: GitLab's own pages follow it. */
const isName = (name: string): boolean =>
  NAME.test(name) && name !== "-" && name !== "." && name !== "..";

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return "";
  }
}
