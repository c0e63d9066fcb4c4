import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Leads requests for git to a repository of start-remotes.ts, as a forge does whose repositories
 * are on another host.
 *
 * @param remotes The origin of the repositories.
 * @param nameOf The repository of a request, without `.git`; undefined for none.
 */
export const redirectGit =
  (remotes: string, nameOf: (request: IncomingMessage) => string | undefined) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const rest = /\/info\/refs\?.*$/.exec(request.url ?? "")?.[0];
    const name = nameOf(request);
    if (rest === undefined || name === undefined) return void response.writeHead(404).end();
    response.writeHead(302, { Location: `${remotes}/git/${name}.git${rest}` }).end();
  };
