import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { onTestFinished } from "vitest";

import { ENVIRONMENT, git, makeDirectory } from "./git.ts";

/** `git http-backend` on this machine, behind basic authentication. */
export interface GitServer {
  /** The directory of a repository. */
  directoryOf(name: string): string;
  /** Creates an empty bare repository, which takes pushes. */
  create(name: string): Promise<void>;
  /** The address of a repository, without credentials. */
  url(name: string): string;
  /** How many requests came with the right credentials since the last call. */
  takeCount(): number;
}

/** Starts a server that is stopped at the end of the test. */
export async function startGitServer(user: string, password: string): Promise<GitServer> {
  const root = makeDirectory();
  const program = join(await git(root, ["--exec-path"]), "git-http-backend");
  const credentials = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  let count = 0;
  const server = createServer((request, response) => {
    if (request.headers.authorization !== credentials) {
      request.resume();
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end("not for you");
      return;
    }
    count += 1;
    serve({ root, program }, request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    directoryOf: (name) => join(root, `${name}.git`),
    create: async (name) => {
      await git(root, ["init", "--quiet", "--bare", "--initial-branch=main", `${name}.git`]);
      await git(join(root, `${name}.git`), ["config", "http.receivepack", "true"]);
    },
    url: (name) => `http://127.0.0.1:${port}/${name}.git`,
    takeCount: () => {
      const taken = count;
      count = 0;
      return taken;
    },
  };
}

/** @see git-http-backend(1), "ENVIRONMENT". */
function serve(
  { root, program }: { readonly root: string; readonly program: string },
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { method = "", url = "/", headers } = request;
  const [path = "", query = ""] = url.split("?");
  const optional = {
    GIT_PROTOCOL: headers["git-protocol"]?.toString(),
    CONTENT_LENGTH: headers["content-length"],
    HTTP_CONTENT_ENCODING: headers["content-encoding"],
  };
  const child = spawn(program, [], {
    env: {
      ...ENVIRONMENT,
      ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REQUEST_METHOD: method,
      PATH_INFO: decodeURIComponent(path),
      QUERY_STRING: query,
      CONTENT_TYPE: headers["content-type"] ?? "",
      REMOTE_ADDR: "127.0.0.1",
    },
  });
  child.stderr.resume();
  child.stdin.on("error", () => {
    // git does not read input that it does not need.
  });
  request.pipe(child.stdin);
  response.once("close", () => child.kill());
  let head = Buffer.alloc(0);
  const onHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    child.stdout.off("data", onHead);
    let status = 200;
    for (const line of head.toString("latin1", 0, end).split("\r\n")) {
      const [name = "", value = ""] = line.split(/:\s*(.*)/s);
      if (name.toLowerCase() === "status") status = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.writeHead(status).write(head.subarray(end + 4));
    child.stdout.pipe(response);
  };
  child.stdout.on("data", onHead);
  child.stdout.once("end", () => {
    if (!response.headersSent) response.writeHead(500).end();
  });
}
