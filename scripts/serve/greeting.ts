import type { FirstAdministrator } from "./first-administrator.ts";

export function greeting(url: URL, user: string, first: FirstAdministrator | undefined): string[] {
  const origin = reachable(url);
  // curl asks for a password that we do not know, or that should not be on the screen.
  const credentials = first?.generatedPassword ? `${user}:${first.generatedPassword}` : user;
  const body = `'{"name":"hello","auto_init":true}'`;
  return [
    `create a repository:  curl -u ${credentials} -H 'content-type: application/json' -d ${body} ${origin}/api/v1/user/repos`,
    `clone it:             git clone ${origin}/${user}/hello.git`,
    `read the interface:   ${origin}/api/swagger`,
  ];
}

export function announce(first: FirstAdministrator): string {
  const { name, generatedPassword } = first;
  if (!generatedPassword) return `created the first administrator: ${name}`;
  return `created the first administrator: ${name}, password ${generatedPassword} (shown only this once)`;
}

/** A service that listens on every address is reached here through this one. */
function reachable(url: URL): string {
  const isEverywhere = url.hostname === "0.0.0.0" || url.hostname === "[::]";
  return isEverywhere ? `http://127.0.0.1:${url.port}` : url.origin;
}
