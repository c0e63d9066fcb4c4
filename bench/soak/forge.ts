import type { SoakService } from "./service.ts";

/**
 * The service, as its first administrator. Functions rather than methods, so that callers can pass
 * them on.
 */
export type Forge = {
  /**
   * Sends a request to the API, again if the service is killed before it has answered. Then a
   * creation that finds its object, and a deletion that finds none, have succeeded before.
   *
   * @returns The parsed answer, its text if it is not JSON, or undefined of such a repetition.
   * @throws Error if the status is not of 2xx.
   */
  send: (method: string, path: string, json?: object) => Promise<unknown>;
  /** The same below the root of the service, with a body as it is. */
  sendRaw: (method: string, path: string, body?: string) => Promise<unknown>;
  /** The URL of a repository for git, with a credential. */
  gitUrl: (repository: string) => string;
  /** Does work that is safe to repeat, again if the service is killed during it. */
  surviving: SoakService["surviving"];
};

export const OWNER = "root";

/** Creates a token, since a password costs a hash with each request. */
export async function openForge({ origin, password, surviving }: SoakService): Promise<Forge> {
  const basic = `Basic ${Buffer.from(`${OWNER}:${password}`).toString("base64")}`;
  const token = JSON.stringify({ name: "soak", scopes: ["all"] });
  const created = await request(origin, basic, "POST", `/api/v1/users/${OWNER}/tokens`, token);
  const { sha1 } = JSON.parse(created.text) as { sha1: string };
  const { host } = new URL(origin);

  const sendRaw = (method: string, path: string, body?: string): Promise<unknown> =>
    surviving(async (isRepeated) => {
      const answer = await request(origin, `token ${sha1}`, method, path, body);
      if (isRepeated && DONE_BEFORE[method]?.includes(answer.status)) return undefined;
      if (answer.status < 200 || answer.status > 299) {
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      }
      return answer.isJson ? (JSON.parse(answer.text) as unknown) : answer.text;
    });
  return {
    sendRaw,
    send: (method, path, json) =>
      sendRaw(method, `/api/v1${path}`, json === undefined ? undefined : JSON.stringify(json)),
    gitUrl: (repository) => `http://${OWNER}:${sha1}@${host}/${OWNER}/${repository}.git`,
    surviving,
  };
}

/** What a repeated request is answered if the first one was carried out. */
const DONE_BEFORE: Readonly<Record<string, readonly number[]>> = {
  POST: [409, 422],
  PUT: [409],
  DELETE: [404],
};

async function request(
  origin: string,
  authorization: string,
  method: string,
  path: string,
  body?: string,
): Promise<{ status: number; isJson: boolean; text: string }> {
  const answer = await fetch(`${origin}${path}`, {
    method,
    headers: { authorization, "content-type": "application/json" },
    body: body ?? null,
  });
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status: answer.status, isJson, text: await answer.text() };
}
