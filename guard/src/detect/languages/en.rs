//! English.

mod rules;

use super::super::lexicon::{Language, Script};

pub(super) const LANGUAGE: Language =
    Language { code: "en", script: Script::Latin, lists: LISTS, parts: PARTS, rules: rules::RULES };

const PARTS: &[(&str, &str)] = &[
    // Where an order begins: a sentence, a line, a quotation, a field's value, or after a word that leads to one.
    (
        "clause",
        r#"(?:^|[.!?:;,"'`(>\]}|*])[\s"'`*_>\[(\\n-]*|\b(?:and|then|also|now|just|first|do|so|you|to-?do:?|instead|immediately|finally|after that|next)\W+"#,
    ),
    (
        "polite",
        r"\b(?:please|kindly|pls|urgently|immediately|can you|could you|would you|i need you to|i want you to|you must|you should|you have to|you need to|go ahead and|make sure to|be sure to|remember to)\W+(?:(?:also|now|just|immediately|urgently|first|then|\w+ly)\W+)?",
    ),
    ("start", r"(?:<clause>|<polite>)(?:<polite>)?"),
    ("address", r"(?:\b[\w.+-]+@[\w-]+\.\w+|https?://|www\.)"),
];

const LISTS: &[(&str, &str)] = &[
    ("you", "you"),
    ("as", "as"),
    ("no", "no, without, any, not"),
    ("first", "first, gave, given, asking"),
    ("please", "please"),
    (
        "tool",
        "send, delete, post, http, transfer, write, fetch, create, update, execute, run, read, get, forward, upload, make",
    ),
    (
        "object",
        "the, my, all, this, these, them, it, his, her, their, your, any, each, every, that, those, content, contents, details, information, data, money, a",
    ),
    ("link", "link, url"),
    ("turn", "user:, human:"),
    (
        "matter",
        "rest, remainder, data, document, page, webpage, web page, website, resume, table, article, paper, \
         email, message, text, code, content, input, question, paragraph, review, info",
    ),
    ("words", "following, exact, exactly, word, phrase, sentence, that i"),
    (
        "henceforth",
        "from now on, from this point, henceforth, rest of this conversation, rest of the conversation, rest \
         of this chat, rest of this session, all future tasks, all future responses, every future",
    ),
    // Taking back what was said.
    (
        "override",
        "ignore, disregard, forget, override, bypass, set aside, pay no attention to, discard, abandon",
    ),
    (
        "instructions",
        "instruction*, guideline*, prompt, prompts, directive*, directions, guidance, \
         programming",
    ),
    (
        "rules",
        "rule, rules, policy, policies, constraint*, restriction*, limitation*, orders, command*, safeguard*, \
         safety, training, filter*, message*, request*, context, conversation, input, text, content, task, \
         tasks",
    ),
    ("before", "above, before, previous*, prior, earlier, preceding, said, told, read, learned, far"),
    ("obey", "follow, obey, obeying, following, listen to, trust, heed, heeding"),
    ("master", "user, user's, customer, human, operator, owner, principal, instruction*, request, requests"),
    ("prior_task", "task, tasks, instruction*, request, objective, goal"),
    ("void", "cancelled, canceled, void, obsolete, revoked, superseded, overridden, over"),
    // Speaking as another.
    ("label", "system:, assistant:, ai:, bot:, admin:, administrator:, developer:, model:"),
    (
        "label_long",
        "note, message, prompt, override, instruction, instructions, directive, alert, notice, update, \
         command, request",
    ),
    ("lord", "system, assistant, admin, administrator, developer, ai, agent, root, security, operator"),
    ("new", "new, updated, revised, additional, real, actual"),
    ("orders", "instruction*, orders, directive*, objective, goal, mission, guidelines, task, role"),
    (
        "tag",
        "system, assistant, im_start, im_end, inst, sys, system_prompt, system-prompt, system-reminder, \
         system_message",
    ),
    (
        "loud_tag",
        "INFORMATION, IMPORTANT, HIDDEN, CRITICAL, SECRET, URGENT, INSTRUCTION, INSTRUCTIONS, SYSTEM, ADMIN",
    ),
    ("ending", "end"),
    (
        "session",
        "session, document, conversation, context, input, prompt, transcript, report, resume, instructions, \
         text, data",
    ),
    // Speaking to the model.
    (
        "agent",
        "ai, assistant, assistants, bot, bots, model, models, agent, agents, llm, llms, chatbot, classifier, \
         gpt, chatgpt, gpt-4, claude, gemini, copilot, gpt-3",
    ),
    ("machine", "ai, assistant, llm, llms, chatbot, language model, copilot, chatgpt, ais"),
    ("greet", "dear, hey, hi, hello, attention, listen"),
    (
        "note",
        "note, message, instruction, instructions, notice, reminder, directive, guidance, addressed, memo, attn",
    ),
    (
        "reading",
        "reading, processing, parsing, summarizing, summarising, analyzing, analysing, reviewing, handling",
    ),
    (
        "duty",
        "must, should, has to, have to, needs to, need to, shall, required to, instructed to, expected to, \
         supposed to",
    ),
    (
        "no_rules",
        "restriction*, rules, limit, limits, limitation*, filter, filters, guideline*, restrictions, \
         unrestricted, censorship, ethics, boundaries",
    ),
    ("pretend", "pretend, roleplay, role-play, act as, behave as, simulate"),
    ("dan", "dan, jailbroken, unrestricted, uncensored, developer mode, dev mode, god mode, jailbreak"),
    // Dictating the answer.
    ("your", "your"),
    ("answer", "answer, answers, response, responses, reply, replies, summary"),
    ("output", "output, message, answer, response, reply, translation, label, classification, decision"),
    ("reply", "answer, respond, reply"),
    ("every", "every, each, all, any, its, future, the"),
    ("report", "answer, answers, response, responses, reply, replies, summary, summaries, report, reports"),
    ("end", "end, beginning, start, bottom, top"),
    ("correct", "correct, right, final"),
    ("verdict", "answer, label, category, class, decision, choice, option, output"),
    ("classify", "classify, label, categorize, categorise, mark, tag, flag, rate"),
    ("choose", "answer, output, choose, classify, label, say, reply, respond, approve, reject"),
    ("compose", "write, draft, compose, generate, produce, tell, give, make, develop, create"),
    (
        "work",
        "sentence, sentences, poem, haiku, essay, story, speech, song, joke, limerick, rap, slogan, tweet, \
         phishing, malware, keylogger, ransomware, virus, tutorial, blog post, introduction",
    ),
    ("say", "say, repeat, print, output, proclaim, recite, echo"),
    (
        "reveal",
        "reveal, print, show, output, repeat, tell, display, leak, disclose, give, expose, dump, share, what \
         are, what is, what's, send, list, summary of",
    ),
    (
        "secret",
        "prompt, prompts, instruction*, system message, context window, guidelines, secret, secrets, \
         password, passwords, credentials, api key, api keys, initial message, key, keys, rules",
    ),
    (
        "hide",
        "mention, mentioning, reveal, disclose, tell, inform, notify, alert, warn, informing, telling, \
         notifying, alerting",
    ),
    // Asking for something to be done.
    (
        "send",
        "send, email, e-mail, mail, forward, transmit, post, upload, share, submit, deliver, leak, \
         exfiltrate, transfer, wire, remit",
    ),
    ("pay", "pay, send, transfer, wire, remit, deposit, donate, refund, reallocate, withdraw, buy, purchase"),
    (
        "act",
        "send, email, forward, transfer, wire, pay, remit, deposit, refund, delete, remove, erase, wipe, \
         approve, upload, share, post, grant, execute, run, call, invoke, withdraw, purchase, buy, book, \
         reserve, visit, sign, submit, disclose, leak, reply, respond, answer, include, append, add, say, \
         write, update, change, create, schedule, cancel, disable, enable, open, click, use, do, make, \
         ignore, forget, disregard, follow, focus, provide, reveal, print, output, tell, get, fetch, \
         retrieve, download, access, stop, treat, classify, mark, confirm, comply, act, always, never, do \
         not, don't, you, your, move, from now on, reject, return, be, save, read, search, find, give, \
         recommend, insert, replace, translate, summarize, show, i will, i have, i must, mention, rate",
    ),
    (
        "fetch",
        "update, change, get, retrieve, fetch, access, find, search, list, download, delete, remove, grant, \
         disable, enable, transfer, export, book, schedule, cancel, unlock, lock, modify, reset, turn, leave, \
         share, forward, send, email, post, extract, generate, arrange, order, pay, buy, move, withdraw, \
         deposit, look up, gather, collect, review, obtain",
    ),
    (
        "operate",
        "update, change, create, delete, remove, retrieve, fetch, access, download, extract, export, \
         transfer, share, distribute, schedule, grant, disable, unlock, cancel, modify, alter, manipulate, \
         reallocate, conduct, monitor, verify, validate, manage, provide, prepare, generate, analyze, \
         optimize, secure, cause, initiate, dispatch, assign, adjust, inject, block, terminate, issue, \
         search, find, get, list, review, publish, conceal, falsify, redirect, reduce, increase, delay, \
         deploy, degrade, corrupt, guide, leave, record, charge, store, divert, withhold, misrepresent, \
         exaggerate, prioritize, expose, leak, sell, set, evaluate, assess, track, process, collect, gather, \
         compile, implement, apply, notify",
    ),
    ("spend", "pay, wire, remit, transfer, deposit, refund, purchase, withdraw, forward, approve, leak"),
    ("my", "my"),
    ("id", "id, account, patient, client, customer"),
    (
        "file",
        "file, files, repository, account, accounts, email, emails, database, record, records, backup, \
         backups, table, folder, event, events, message, messages, review, transaction",
    ),
    ("delete", "delete, remove, erase, wipe, destroy"),
    ("password", "password, passcode, two-factor, 2fa, mfa, authentication"),
    ("change", "change, reset, set, update, disable, turn off, deactivate"),
    ("reservation", "reservation, reservations, booking, bookings, appointment"),
    ("make", "make, place, complete, finalise, finalize"),
    ("book", "book, reserve"),
    ("create", "create, add, schedule, set up, put, make, arrange"),
    ("event", "calendar, appointment, meeting, reminder, event"),
    ("visit", "visit, open, go to, navigate to, browse to, head to, click, load, fetch"),
    ("site", "website, page, site, webpage, link, url"),
    ("before_you", "before"),
    (
        "solve",
        "solve, answer, respond, reply, complete, help, assist, summarize, summarise, continue with the, \
         proceed with the",
    ),
    (
        "the_task",
        "i gave you, given to you, you were given, do the following first, do this first, following first, \
         without asking me, with asking me",
    ),
    ("important", "important, urgent, critical, authorized, authorised, official"),
    ("notice", "message, directive, instruction, diagnostic, command, order"),
    ("approved", "approved, authorized, authorised, consented, confirmed, pre-approved, permission"),
    ("user", "user"),
    ("decode", "decode, decrypt, deobfuscate"),
    ("comply", "follow, execute, do, obey, run, act, comply, adhere"),
    ("adhere", "adhere, comply, obey, abide"),
    ("call", "call, invoke"),
    ("todo", "todo:, action:, housekeeping:, task:"),
];
