import type { FirstAdministrator } from "./first-administrator.ts";

export function greeting(
  url: URL,
  user: string,
  administrator: FirstAdministrator | undefined,
): string[] {
  const origin = toLocalOrigin(url);
  // curl prompts for any other password, which is unknown or should not be on the screen.
  const credentials = administrator?.generatedPassword
    ? `${user}:${administrator.generatedPassword}`
    : user;
  const body = `'{"name":"hello","auto_init":true}'`;
  return [
    `create a repository:  curl -u ${credentials} -H 'content-type: application/json' -d ${body} ${origin}/api/v1/user/repos`,
    `clone it:             git clone ${origin}/${user}/hello.git`,
    `read the interface:   ${origin}/api/swagger`,
  ];
}

export function describeAdministrator(administrator: FirstAdministrator): string {
  const { name, generatedPassword } = administrator;
  if (!generatedPassword) return `created the first administrator: ${name}`;
  return `created the first administrator: ${name}, password ${generatedPassword} (shown only this once)`;
}

/** The local URL of the service: if it listens on all addresses, 127.0.0.1. */
function toLocalOrigin(url: URL): string {
  const listensOnAll = url.hostname === "0.0.0.0" || url.hostname === "[::]";
  return listensOnAll ? `http://127.0.0.1:${url.port}` : url.origin;
}
