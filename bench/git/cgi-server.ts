/**
 * A plain web server in front of `git http-backend`, in its own process: the reference for the
 * service. It only forwards bytes.
 *
 * Started by http-backend.ts with the directory of the repositories. It reports its port, and on
 * each message waits until all processes that it started have ended, and reports that.
 */
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

const [root = "", program = ""] = process.argv.slice(2);

let running = 0;
const waiting: (() => void)[] = [];

const server = createServer((request, response) => serve(request, response));
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.({ port: typeof address === "object" ? address?.port : undefined });
});
process.on("message", () => {
  waiting.push(() => process.send?.({ isIdle: true }));
  reportIfIdle();
});
// The parent process has ended.
process.on("disconnect", () => process.exit(0));

function serve(request: IncomingMessage, response: ServerResponse): void {
  const child = spawn(program, [], {
    env: { ...process.env, ...variablesOf(request) },
    stdio: ["pipe", "pipe", "inherit"],
  });
  running += 1;
  child.once("close", () => {
    running -= 1;
    reportIfIdle();
  });
  response.once("close", () => child.kill());
  child.stdin.on("error", () => {
    // git does not read input that it does not need.
  });
  request.pipe(child.stdin);

  let head = Buffer.alloc(0);
  const onHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    child.stdout.off("data", onHead);
    writeHead(response, head.toString("latin1", 0, end));
    response.write(head.subarray(end + 4));
    child.stdout.pipe(response);
  };
  child.stdout.on("data", onHead);
  child.stdout.once("end", () => {
    if (!response.headersSent) response.writeHead(500).end();
  });
}

/** @see RFC 3875, section 4.1, "Request Meta-Variables"; git-http-backend(1), "ENVIRONMENT". */
function variablesOf({ method, url = "/", headers }: IncomingMessage): Record<string, string> {
  const [path = "/", query = ""] = url.split("?");
  const variables: Record<string, string | undefined> = {
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: "1",
    GIT_PROTOCOL: headers["git-protocol"]?.toString(),
    REQUEST_METHOD: method,
    PATH_INFO: decodeURIComponent(path),
    QUERY_STRING: query,
    CONTENT_TYPE: headers["content-type"],
    CONTENT_LENGTH: headers["content-length"],
    HTTP_CONTENT_ENCODING: headers["content-encoding"],
    REMOTE_ADDR: "127.0.0.1",
  };
  return Object.fromEntries(
    Object.entries(variables).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}

/** @see RFC 3875, section 6.3, "Response Header Fields". */
function writeHead(response: ServerResponse, head: string): void {
  let status = 200;
  for (const line of head.split("\r\n")) {
    const [name = "", value = ""] = line.split(/:\s*(.*)/s);
    if (name.toLowerCase() === "status") status = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status);
}

function reportIfIdle(): void {
  if (running > 0) return;
  for (const report of waiting.splice(0)) report();
}
