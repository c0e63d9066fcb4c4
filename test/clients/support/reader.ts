import { type Caller, serviceUrl } from "./forge.ts";

/**
 * A browser's part in an authorization: keeps cookies, signs in, and presses the buttons of forms.
 */
export class Reader {
  private readonly cookies = new Map<string, string>();

  /** A reader who has signed in with their password. */
  static async signedIn({ name, password }: Caller): Promise<Reader> {
    const reader = new Reader();
    await reader.submit(`${serviceUrl}/user/login`, "/user/login", { user_name: name, password });
    return reader;
  }

  /**
   * Opens an authorization request, grants what it asks for, and returns the address to which the
   * client's user is led.
   *
   * @throws Error if the page is none that asks.
   */
  async grant(address: URL | string): Promise<URL> {
    const answer = await this.submit(String(address), "/login/oauth/grant", { granted: "true" });
    return new URL(answer.headers.get("location") ?? "none:");
  }

  async get(address: string): Promise<Response> {
    return this.send(address, {});
  }

  /** Opens a page, fills in the form with this action and sends it. */
  private async submit(
    address: string,
    action: string,
    fields: Record<string, string>,
  ): Promise<Response> {
    const page = await (await this.get(address)).text();
    return this.send(`${serviceUrl}${action}`, {
      method: "POST",
      headers: { Origin: serviceUrl, "Content-Type": "application/x-www-form-urlencoded" },
      body: String(new URLSearchParams({ ...hiddenFields(page, action), ...fields })),
    });
  }

  private async send(address: string, request: RequestInit): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(request.headers as Record<string, string>), Cookie: cookie };
    const answer = await fetch(address, { ...request, headers, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.cookies.set(name, value);
    }
    return answer;
  }
}

function hiddenFields(page: string, action: string): Record<string, string> {
  const forms = page.match(/<form\b[^]*?<\/form>/g) ?? [];
  const form = forms.find((each) => each.includes(`action="${action}"`));
  if (form === undefined) throw new Error(`the page has no form for ${action}: ${page}`);
  const attribute = (input: string, name: string) =>
    new RegExp(`\\b${name}="([^"]*)"`).exec(input)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const inputs = form.match(/<input\b[^>]*type="hidden"[^>]*>/g) ?? [];
  return Object.fromEntries(
    inputs.map((input) => [attribute(input, "name"), attribute(input, "value")]),
  );
}
