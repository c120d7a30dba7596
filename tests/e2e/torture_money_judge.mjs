// Rules for money after a torture run (torture.mjs): the credits of every payment were granted, each purchase once, and those of every
// refund were reversed (spec 11.1, 11.3).

const sum = (list, value) => list.reduce((total, one) => total + value(one), 0);
// Banks take back more than was paid, at times: the surplus is in no purchase.
const disputedOf = ({ amount, withdrawn, reinstated }) => Math.min(amount, withdrawn - reinstated);
const beyond = (payment) => payment.withdrawn - payment.reinstated - disputedOf(payment);

// Why the purchase is not what the processor's payment says; nothing: it is. `payment`: nothing where there is no page.
export function purchaseProblem(purchase, payment) {
  const { id, credits, amount, currency, creditsGranted: granted, creditsReversed: reversed } = purchase;
  if (!payment?.paid)
    return granted + reversed === 0
      ? undefined
      : `${id} is not paid, and granted ${granted} credits and reversed ${reversed}`;
  if (payment.amount !== amount || payment.currency !== currency)
    return `${id} costs ${amount} ${currency}, and the processor took ${payment.amount} ${payment.currency}`;
  if (granted !== credits) return `${id} is paid, and granted ${granted} of ${credits} credits`;
  const refunded = payment.refunded;
  const disputed = disputedOf(payment);
  if (purchase.amountRefunded !== refunded || purchase.amountDisputed !== disputed) {
    return `${id} says ${purchase.amountRefunded} refunded and ${purchase.amountDisputed} disputed, and the processor ${refunded} and ${disputed}`;
  }
  const due = Math.ceil((credits * Math.min(amount, refunded + disputed)) / amount);
  return reversed === due ? undefined : `${id} reversed ${reversed} credits, and ${due} went back`;
}

// `money`: as Money.facts() has it; `merchants`: as judge() has them.
export function judgeMoney({ payments, books, purchases }, merchants, wrong) {
  const byPurchase = new Map();
  for (const payment of payments) {
    const { clientReferenceId: id, session } = payment;
    if (byPurchase.has(id)) wrong(`${id} has two payment pages: ${byPurchase.get(id).session} and ${session}`);
    byPurchase.set(id, payment);
  }
  const known = new Map(purchases.map((purchase) => [purchase.id, purchase]));
  for (const { clientReferenceId: id, paid } of payments)
    if (!known.has(id))
      wrong(`the processor has a page of ${id}${paid ? ', which is paid' : ''}, and there is no such purchase`);
  for (const purchase of purchases) {
    const problem = purchaseProblem(purchase, byPurchase.get(purchase.id));
    if (problem) wrong(problem);
  }
  for (const { cloudId, balance, ledger } of merchants) {
    judgeLedger(
      cloudId,
      ledger,
      balance,
      purchases.filter(({ merchant }) => merchant === cloudId),
      wrong,
    );
  }
  judgeBooks(payments, books, purchases, wrong);
}

const OF_PURCHASES = ['purchase', 'reversal', 'reversal_undone', 'debt_paid'];
const SIGNS = { grant: 1, purchase: 1, reversal_undone: 1, spend: -1, reversal: -1, debt_paid: 0 };

function judgeLedger(cloudId, ledger, balance, purchases, wrong) {
  const theirs = new Map(purchases.map((purchase) => [purchase.id, { purchase, entries: [] }]));
  for (const entry of ledger) {
    if (SIGNS[entry.kind] === undefined) wrong(`${cloudId}: the ledger has an entry of kind ${entry.kind}`);
    if (!entry.purchaseId) continue;
    if (!OF_PURCHASES.includes(entry.kind))
      wrong(`${cloudId}: an entry of kind ${entry.kind} names ${entry.purchaseId}`);
    const its = theirs.get(entry.purchaseId);
    if (its) its.entries.push(entry);
    else wrong(`${cloudId}: the ledger tells of ${entry.purchaseId}, which is no purchase of theirs`);
  }
  for (const { purchase, entries } of theirs.values()) {
    const of = (kind) => entries.filter((entry) => entry.kind === kind);
    const credits = (kind) => sum(of(kind), (entry) => entry.credits);
    if (of('purchase').length > 1) wrong(`${purchase.id} was granted ${of('purchase').length} times`);
    if (credits('purchase') !== purchase.creditsGranted)
      wrong(`${purchase.id} granted ${purchase.creditsGranted} credits, and the ledger says ${credits('purchase')}`);
    const reversed = credits('reversal') - credits('reversal_undone');
    if (reversed !== purchase.creditsReversed)
      wrong(`${purchase.id} reversed ${purchase.creditsReversed} credits, and the ledger says ${reversed}`);
  }
  const granted = sum(purchases, ({ creditsGranted }) => creditsGranted);
  const reversed = sum(purchases, ({ creditsReversed }) => creditsReversed);
  if (balance.purchased !== granted)
    wrong(`${cloudId}: ${balance.purchased} credits are purchased, and their purchases granted ${granted}`);
  if (balance.reversed + balance.debt !== reversed)
    wrong(`${cloudId}: ${balance.reversed} credits are reversed and ${balance.debt} owed, and ${reversed} went back`);
  const left = sum(ledger, ({ kind, credits }) => (SIGNS[kind] ?? 0) * credits);
  if (left !== balance.available + balance.held - balance.debt)
    wrong(`${cloudId}: the ledger leaves ${left} credits, the balance ${JSON.stringify(balance)}`);
}

// All accounts together have what the processor took and did not give back.
function judgeBooks(payments, books, purchases, wrong) {
  for (const [currency, { taken, net }] of Object.entries(books)) {
    const of = purchases.filter((purchase) => purchase.currency === currency);
    const paid = of.filter(({ creditsGranted }) => creditsGranted > 0);
    const sold = sum(paid, ({ amount }) => amount);
    const kept = sold - sum(paid, ({ amountRefunded, amountDisputed }) => amountRefunded + amountDisputed);
    if (sold !== taken) wrong(`the processor took ${taken} ${currency}, and ${sold} was sold`);
    const left =
      net +
      sum(
        payments.filter((payment) => payment.currency === currency),
        beyond,
      );
    if (kept !== left) wrong(`the processor has ${left} ${currency} left, and the purchases say ${kept}`);
  }
}
