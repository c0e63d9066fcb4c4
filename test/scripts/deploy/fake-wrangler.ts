/**
 * A fake of wrangler: the commands of a deployment, on a file instead of an account of
 * Cloudflare. FAKE_WRANGLER_ACCOUNT names the file.
 */
import { readFileSync, writeFileSync } from "node:fs";

export type Account = {
  databases: { name: string; uuid: string }[];
  /** Names of buckets and queues. */
  others: string[];
  /** Commands so far. */
  commands: string[];
  /** The start of a command that fails. */
  failing?: string | undefined;
  /** The configuration of the Worker. */
  deployed?: string | undefined;
};

const path = process.env["FAKE_WRANGLER_ACCOUNT"] ?? "";
const account: Account = JSON.parse(readFileSync(path, "utf8"));
const args = process.argv.slice(2);
const command = args.join(" ");
account.commands.push(command);
const isFailing = account.failing !== undefined && command.startsWith(account.failing);
if (isFailing || !succeeds()) process.exitCode = 1;
writeFileSync(path, JSON.stringify(account));

function succeeds(): boolean {
  const { databases, others } = account;
  const name = args[args.indexOf("-c") - 2] ?? args.at(-1) ?? "";
  const has = (database: string): boolean => databases.some((each) => each.name === database);
  const configuration = (): string => readFileSync(args[args.indexOf("-c") + 1] ?? "", "utf8");
  switch (
    args
      .slice(0, -1)
      .join(" ")
      .replace(/ \S+ --remote.*| -c$/, "")
  ) {
    case "d1 list":
      console.log(JSON.stringify(databases));
      return true;
    case "d1 info":
      return has(name);
    case "d1 create":
      if (has(name)) return false;
      databases.push({ name, uuid: `id-of-${name}` });
      return true;
    case "d1 migrations apply": {
      const isNamed = (section: string): boolean => section.includes(`database_name = "${name}"`);
      const section = configuration().split("[[d1_databases]]").find(isNamed);
      return section?.includes(`database_id = "id-of-${name}"`) ?? false;
    }
    case "r2 bucket info":
    case "queues info":
      return others.includes(name);
    case "r2 bucket create":
    case "queues create":
      others.push(name);
      return true;
    case "deploy":
      account.deployed = configuration();
      return true;
    default:
      return false;
  }
}
