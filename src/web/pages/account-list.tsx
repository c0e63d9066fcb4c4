import type { Child } from "hono/jsx";

import type { User } from "../../db/schema/index.ts";
import { accountPath } from "./addresses.ts";
import { Avatar } from "./avatar.tsx";

interface AccountListProps {
  accounts: readonly User[];
  /** Said where there are none. */
  empty: string;
  /** What stands beside an account. */
  more?: ((account: User) => Child) | undefined;
}

/** Users or organizations, by their names. */
export function AccountList({ accounts, empty, more }: AccountListProps) {
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
          {more?.(account)}
        </li>
      ))}
    </ul>
  );
}
