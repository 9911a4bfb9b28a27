//! Frequent short words that identify the language of a text. Words that end in an apostrophe are joined to the next word.

use glasscage_core::explanation::Language;

/// Function words of the languages that are detected, in alphabetical order.
pub const FUNCTION_WORDS: [(Language, &str); 7] = [
    (
        Language::English,
        "a about after all always am an and any are as at be because been before but by can could did do does each every for from \
         get gets give gives had has have he her here his how i if in into is it its let like made make many more most much my \
         never new no not nothing now of on one only or other our out plus said she should so some than that the their them then \
         there these they this those three to two up very was we were what when where which while who why will with would write yes \
         you your",
    ),
    (
        Language::German,
        "aber alle alles als also am an auch auf aus bei beim bin bis bitte da danach dann das dass dazu dem den denn der des die \
         dies diese diesem diesen dieser dieses doch dort drei du durch ein eine einem einen einer eines er es etwa etwas euch für \
         gegen gibt habe haben hast hat hatte heute hier hätte ich ihm ihn ihr ihre ihrem ihren im immer in ist ja jede jeder jedes \
         jetzt kann kannst kein keine keinen können mal man mehr mein mit muss nach nicht nichts noch nun nur ob oder ohne schon \
         sehr sein seine seinem seinen seiner seit selbst sich sie sind so soll um und uns unter viel viele vom von vor war waren \
         warum was welche welcher welches wenn wer werden wie wieder wir wird wo wurde wurden wäre würde zu zum zur zwei zwischen \
         über",
    ),
    (
        Language::French,
        "a ai alors après as au aujourd' aussi autre autres aux avait avant avec avez bien c' ce cela ces cet cette chaque combien \
         comme comment d' dans de depuis des deux donc du elle elles en encore entre est et eux fait faut ici il ils j' jamais je \
         jusqu' l' la le les leur leurs lui m' ma mais me merci mes moins mon même n' ne nous on ont ou où par pas peu peut peuvent \
         plus pour pourquoi puis qu' quand que quel quelle quelles quelque quels qui quoi rien s' sa sans se ses si sommes son sont \
         sous sur t' ta toujours tous tout toute toutes trois très tu un une vers voici voilà vos votre vous y à était été être",
    ),
    (
        Language::Spanish,
        "a ahora al algo allí ante antes aquí así aunque bien cada como con cual cuando cuál cuáles cuándo cuánta cuántas cuánto \
         cuántos cómo de del desde después donde dos dónde e el ella ellas ellos en entre era eran eres es esa ese eso esta estas \
         este esto estos está están fue fueron ha había hace hacer han hasta hay haya hola hoy la las le les lo los luego me mi \
         mientras muy más nada nadie ni no nos nunca o otra otras otro otros para pero poco por porque puede pueden pues que quien \
         quiero quién qué se según ser si sido siempre sin sobre somos son soy su sus sí también tanto te tengo tiene tienen toda \
         todas todo todos tres tu un una unas uno unos vez y ya yo él",
    ),
    (
        Language::Italian,
        "a abbiamo agli ai al all' alla alle allo anche ancora avere bene c' che chi ci come con cosa così cui d' da dagli dai dal \
         dall' dalla dalle degli dei del dell' della delle dello di dopo dove due e ed ella era erano essere fa fare fatto fra gli \
         ha hanno ho i il in invece io l' la le lei li lo loro lui lì ma mai me mi mia molto ne negli nei nel nell' nella nelle \
         nello nessuno niente noi non nulla o oggi ogni ora per perché però più poi può qual quale quali quando quanta quante \
         quanti quanto quella quelle quelli quello questa queste questi questo qui se sempre senza si sia solo sono sta stata stato \
         sto su sua sue sugli sui sul sull' sulla sulle suo suoi ti tra tre tutti tutto un un' una uno vi volta vuole è",
    ),
    (
        Language::Portuguese,
        "a agora ainda algo ali além ao aos aqui as até bem cada com como da das de dela dele deles depois dessa desse desta deste \
         disso do dois dos duas e ela elas ele eles em entre era eram essa esse esta este está estão eu fazer fica foi foram hoje \
         há isso isto já lhe lá mais mas me mesmo meu minha muito na nada nas nem ninguém no nos nossa nosso num numa nunca não nós \
         o onde os ou outra outras outro outros para pela pelas pelo pelos pode podem por porque quais qual quando quanta quantas \
         quanto quantos que quem quero se sem ser seu seus si sobre sou sua suas são só também tem tenho tinha toda todas todo \
         todos três tudo têm um uma vez você vocês à às é",
    ),
    (
        Language::Dutch,
        "aan al alle alleen als altijd ben bent bij daar daarna dan dat de deze die dit doen door drie dus een eens elk elke en er \
         gaat geen haar had hadden heb hebben hebt heeft hem hen het hier hij hoe hoeveel hun iets ik in is ja je jij kan komt kon \
         kun kunnen maar me meer men met mij mijn moet moeten na naar niet niets nog nooit nu of om omdat onder ons ook op over \
         staat te tegen terug toch toen tot twee u uit vaak van vandaag veel voor waar waarom wanneer want waren was wat we wel \
         welke werd werden wie wij wil worden wordt zal ze zeer zich zij zijn zo zonder zou één",
    ),
];

/// Function words of neighboring languages, whose texts count as English. Without these lists, Danish would be detected as German, and
/// Catalan as Spanish.
pub const WORDS_OF_OTHERS: [&str; 12] = [
    // Swedish
    "att av blir de den denna dessa det detta eller en ett finns från för han har hon hur i inte jag kan med men många ni när \
     och om på sig ska skulle som till under var vi vid är över",
    // Danish and Norwegian
    "af at av ble blev de dem den der deres det efter en er et etter for fra ham hans har hun hva hvad hvor i ikke jeg kan \
     mange med mot noen når og også om på sig skal som til ved vil være å",
    // Polish
    "a ale być co czy dla do i jak jego jest która które który może na nie o od oraz po przez się są tego to tym w z że",
    // Czech
    "a ale by byl bylo do i jako je jeho jsou k kolik která který na ne nebo není o po podle pro při s se si tak to u v z za že",
    // Finnish
    "ei että hän ja joka kuin kun mitä mutta myös niin ole oli on ovat se sen tai tämä",
    // Hungarian
    "a az azt csak de egy el ez ha hogy is meg mint már nem vagy van volt és",
    // Romanian
    "a această acest al ale ca care ce cea cel cu că dacă de din este fi la lui mai nu o pe pentru prin sau se sunt un în și",
    // Catalan
    "a al amb aquest aquesta d' de del dels el els en es hi ho i l' la les més no pel per però que què són també un una és",
    // Turkish
    "ama bir bu da daha de değil en gibi ile için kadar ne olan olarak var ve çok",
    // Croatian
    "a ali bi biti da i ili je kako koja koji na nije o od s sa se su u za što",
    // Afrikaans
    "die ek en het hulle in is nie om sy te van vir wat",
    // Latin
    "ab ad cum esse est et ex in non quae qui quod sed ut",
];
