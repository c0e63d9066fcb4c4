import { RemoteFailure } from "../../outgoing/remote-failure.ts";

/** A repository of GitHub, or of a GitHub Enterprise Server. */
export interface GitHubAddress {
  /** Where the paths of its API begin, without a slash at the end. */
  readonly apiUrl: string;
  /** The path of the repository below `apiUrl`. */
  readonly path: string;
}

/** A name of an account or repository that GitHub allows. */
const NAME = /^[\w.-]{1,100}$/;

/**
 * Finds the API of a repository by the address from which it is cloned, such as
 * `https://github.com/octo/app.git`.
 *
 * @throws RemoteFailure `not_found` if the address is not of the form of a repository's.
 * @see https://docs.github.com/en/enterprise-server/rest/quickstart for servers; enterprises with
 * data residency have names below ghe.com.
 */
export function parseGitHubAddress(cloneUrl: string): GitHubAddress {
  const url = URL.parse(cloneUrl);
  const [owner = "", name = "", ...rest] = url?.pathname.replace(/^\/|\/+$/g, "").split("/") ?? [];
  const repository = name.replace(/\.git$/i, "");
  if (!url || rest.length > 0 || !NAME.test(owner) || !NAME.test(repository)) {
    throw new RemoteFailure("not_found", "this is not the address of a repository of GitHub");
  }
  return { apiUrl: apiUrlOf(url), path: `/repos/${owner}/${repository}` };
}

function apiUrlOf({ origin, hostname }: URL): string {
  const host = hostname.toLowerCase().replace(/\.$/, "");
  if (host === "github.com" || host === "www.github.com") return "https://api.github.com";
  if (/^[^.]+\.ghe\.com$/.test(host)) return `https://api.${host}`;
  return `${origin}/api/v3`;
}
