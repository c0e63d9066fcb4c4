import { visit, type Answer, type Sending } from "./call.ts";
import type { TestUser } from "./make.ts";

type Visit = (method: string, path: string, sending?: Sending) => Promise<Answer>;

/** What a browser sends with a form of this service's own page. */
export const SAME_ORIGIN = { Origin: "https://forge.example", "Sec-Fetch-Site": "same-origin" };

/**
 * A reader of pages: keeps cookies, follows redirects of forms, and sends a form's hidden fields.
 */
export class Browser {
  readonly cookies = new Map<string, string>();
  private readonly answer: Visit;
  private readonly headers: Record<string, string>;

  constructor(answer: Visit = visit, headers: Record<string, string> = {}) {
    this.answer = answer;
    this.headers = { "User-Agent": "Example/1.0", ...headers };
  }

  /** A browser in which a user has signed in with their password. */
  static async signedIn(user: TestUser, answer?: Visit): Promise<Browser> {
    const browser = new Browser(answer);
    await browser.signIn(user);
    return browser;
  }

  signIn(user: Pick<TestUser, "name" | "password">): Promise<Answer> {
    return this.submit("/user/login", { user_name: user.name, password: user.password });
  }

  async get(path: string): Promise<Answer> {
    return this.send("GET", path, {});
  }

  /**
   * Opens a page, fills in its form and sends it.
   *
   * @param fields Values for the form's fields; others keep the value that the page gives them.
   * @param form The form's action, where it differs from the page's path.
   */
  async submit(path: string, fields: Record<string, string> = {}, form = path): Promise<Answer> {
    const page = await this.get(path);
    const action = form.split("?")[0] ?? "";
    const filled = { ...hiddenFields(String(page.body), action), ...fields };
    return this.post(action, filled);
  }

  /** Sends a form without opening its page. */
  post(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = SAME_ORIGIN,
  ): Promise<Answer> {
    return this.send("POST", path, {
      headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
      body: new URLSearchParams(fields).toString(),
    });
  }

  /**
   * Sends a form with files, as a browser does: the button that sends it, `action`, is the last
   * field.
   */
  postFiles(
    path: string,
    { action, ...fields }: Record<string, string>,
    files: readonly File[],
    headers: Record<string, string> = SAME_ORIGIN,
  ): Promise<Answer> {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    for (const file of files) body.append("files", file);
    if (files.length === 0) body.append("files", new File([], ""));
    if (action !== undefined) body.append("action", action);
    return this.postForm(path, body, headers);
  }

  /** Sends a form with files whose fields have an order. */
  postForm(
    path: string,
    body: FormData,
    headers: Record<string, string> = SAME_ORIGIN,
  ): Promise<Answer> {
    return this.send("POST", path, { headers, body });
  }

  private async send(method: string, path: string, sending: Sending): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...this.headers, Cookie: cookie, ...sending.headers };
    const answer = await this.answer(method, path, { ...sending, headers });
    for (const line of answer.headers.getSetCookie()) this.keep(line);
    return answer;
  }

  private keep(line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/;\s*Max-Age=0/i.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** The hidden fields of the form with this action in a page. */
function hiddenFields(page: string, action: string): Record<string, string> {
  const forms = [...page.matchAll(/<form\b([^>]*)>([^]*?)<\/form>/g)];
  const form = forms.find(([, attributes = ""]) => attributes.includes(`action="${action}"`));
  if (!form) throw new Error(`the page has no form for ${action}: ${page}`);
  const inputs = [...(form[2] ?? "").matchAll(/<input\b[^>]*type="hidden"[^>]*>/g)];
  const attribute = (input: string, name: string) =>
    new RegExp(`\\b${name}="([^"]*)"`).exec(input)?.[1]?.replaceAll("&amp;", "&") ?? "";
  return Object.fromEntries(
    inputs.map(([input]) => [attribute(input, "name"), attribute(input, "value")]),
  );
}
