import type { User } from "../../db/schema/index.ts";
import { accountPath } from "./addresses.ts";
import { Avatar } from "./avatar.tsx";

/** Users or organizations, by their names. */
export function AccountList({ accounts, empty }: { accounts: readonly User[]; empty: string }) {
  if (accounts.length === 0) return <p class="soft">{empty}</p>;
  return (
    <ul class="box commits">
      {accounts.map((account) => (
        <li>
          <Avatar account={account} size={32} />
          <div class="grow">
            <a href={accountPath(account)}>{account.name}</a>{" "}
            {account.fullName === "" ? undefined : <span class="soft">{account.fullName}</span>}
            {account.description === "" ? undefined : <div class="soft">{account.description}</div>}
          </div>
        </li>
      ))}
    </ul>
  );
}
