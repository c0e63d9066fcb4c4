// Calls the server for agents by the official SDK of one generation, and prints what came as JSON.
// Arguments: the folder of the packages, "client" or "sdk", the address, a token, a repository.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packages, generation, address, token, repository] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(packages, path)).href);

const { Client } =
  generation === "sdk"
    ? await load("sdk/dist/esm/client/index.js")
    : await load("client/dist/index.mjs");
const { StreamableHTTPClientTransport } =
  generation === "sdk"
    ? await load("sdk/dist/esm/client/streamableHttp.js")
    : await load("client/dist/index.mjs");

const client = new Client({ name: "story", version: "1.0" });
await client.connect(
  new StreamableHTTPClientTransport(new URL(address), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  }),
);
const { tools } = await client.listTools();
const call = (name, args) => client.callTool({ name, arguments: { repository, ...args } });
const opened = await call("create_issue", { title: "Opened by an agent", body: "Text" });
const read = await call("get_issue", { number: opened.structuredContent.number });
const refused = await call("get_issue", { number: 999 });
const { resourceTemplates } = await client.listResourceTemplates();
const [name, repo] = repository.split("/");
const file = await client.readResource({
  uri: `repository://${name}/${repo}/files/main/README.md`,
});
const prompt = await client.getPrompt({
  name: "triage_issue",
  arguments: { repository, number: "1" },
});
const [server, instructions] = [client.getServerVersion()?.name, client.getInstructions()];
await client.close();
console.log(
  JSON.stringify({
    server,
    instructions,
    tools: tools.map((tool) => tool.name),
    opened,
    read,
    refused,
    resourceTemplates: resourceTemplates.length,
    file: file.contents[0].text,
    prompt: prompt.messages[0].content.text,
  }),
);
