/**
 * Signs in by the form of the page, as a browser does. @returns The header of its cookies.
 *
 * @throws Error if the form does not lead elsewhere.
 */
export async function signIn(origin: string, name: string, password: string): Promise<string> {
  const url = new URL("/user/login", origin);
  const page = await fetch(url, { headers: { accept: "text/html" } });
  const cookies = new Map(readCookies(page));
  const hidden = (await page.text()).matchAll(
    /<input type="hidden" name="([^"]+)" value="([^"]*)"/g,
  );
  const fields = new URLSearchParams(
    [...hidden].map(([, field = "", value = ""]) => [field, value]),
  );
  fields.set("user_name", name);
  fields.set("password", password);
  const answer = await fetch(url, {
    method: "POST",
    headers: { origin: url.origin, accept: "text/html", cookie: headerOf(cookies) },
    body: fields,
    redirect: "manual",
  });
  if (answer.status !== 303 && answer.status !== 302) {
    throw new Error(`${url.href} answered ${answer.status}`);
  }
  for (const [key, value] of readCookies(answer)) cookies.set(key, value);
  return headerOf(cookies);
}

const readCookies = (answer: Response): [string, string][] =>
  answer.headers.getSetCookie().map((line) => {
    const [pair = ""] = line.split(";");
    const at = pair.indexOf("=");
    return [pair.slice(0, at), pair.slice(at + 1)];
  });

const headerOf = (cookies: ReadonlyMap<string, string>): string =>
  [...cookies].map(([key, value]) => `${key}=${value}`).join("; ");
