/** The password of the first administrator, `root`, of the services that these tests start. */
export const PASSWORD = "correct horse battery";

export type Call = (method: string, path: string, json?: object) => Promise<unknown>;

/** Calls the API of a service as its administrator. The call fails if it is refused. */
export const administratorOf =
  (url: string): Call =>
  async (method: string, path: string, json?: object): Promise<unknown> => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        Authorization: `Basic ${btoa(`root:${PASSWORD}`)}`,
        "Content-Type": "application/json",
      },
      ...(json && { body: JSON.stringify(json) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
