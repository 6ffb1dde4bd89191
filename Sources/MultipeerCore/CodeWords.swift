/// The words of codes: 1,024 nouns of 3 to 8 letters that are easy to read aloud and hard to confuse.
///
/// No word is the beginning of another, the first four letters determine it, any two differ in at least two letters, and
/// no two sound alike. A word stands for itself in the password, so another list would make other passwords.
package enum CodeWords {
    /// In alphabetical order.
    package static let all: [String] = text.split(whereSeparator: { $0 == " " || $0 == "\n" }).map(
        String.init)

    private static let text = """
        acorn acrobat actor address agent airline airport alarm album algebra alley almanac almond alpaca
        alphabet amber anchor angle animal answer antenna anthem antler anvil apple apricot apron aquarium
        arcade archer arena armor aroma arrow artist ash aspen asphalt athlete atlas atoll attic auction
        author autumn avenue avocado axle baboon baby badge bagel baggage bagpipe bakery balcony ballet
        bamboo banana bandage banjo banner barber bark barley basin basket battery bazaar beach beak
        beaver bed beetle bell berry bicycle binder bird biscuit bison blade blanket blender blizzard
        blossom blouse boat bobcat bobsled bonfire bongo bonnet border botany bottle boulder bow bracelet
        branch bread breeze bridge broccoli bronze broom brother bubble buckle buffalo builder bulb
        bulldog bumper bungalow bunny burger burrow butter cabbage cabin cable cactus cafe calendar calf
        camel campfire canal candle canoe canvas canyon captain caramel carnival carpet carrot cartoon
        castle catalog cavern cedar ceiling celery cello cement center cereal chain chalk champion chapter
        charcoal cheese cherry chestnut chicken choir chord cinema cinnamon circle citizen city clam
        clarinet clasp clerk cliff climate clinic clock closet cloth cloud clover clown cluster coach
        coast cobra cobweb coconut coffee coil collar colony comb comet comic compass concert convoy
        copper coral corner corridor costume cottage couple cousin coyote crab cradle crane crater crayon
        creek cricket crow cruise crystal cucumber cupboard curtain cycle cymbal cypress daisy dance dart
        daughter dawn day deck deer delta dentist depot desert device diagram dial diamond diary dinner
        dinosaur diploma director doctor dolphin domino donkey doorbell double dove dozen dragon drama
        dress drill driver drizzle drop drum dumpling dune dust dynamo eagle earth easel echo eclipse
        editor egg elephant elevator elm emblem emerald engine entrance envelope episode equator eraser
        estuary evening exhibit explorer eye fabric factory falcon family fan farm fashion father fence
        fern festival fiddle field figure film finger fire fish flag flame flask flavor fleet flint floor
        florist fly foam focus folder forest fork formula fossil fountain fox foyer fragment freezer
        friend fringe frisbee frog frost fruit fudge funnel furnace gadget galaxy gallery garage garden
        garlic garnet gate gazelle gear gecko gem genius geranium geyser giant gift giraffe glacier glass
        glider glitter globe glue goal goblet goggles gold gondola goose gorilla grain grammar grandma
        grape gravel griddle grizzly grocer grotto guard guest guide guitar gulf guppy gymnast habitat
        haiku halo hammer hamster hand harbor harness harp harvest hat hawk hazel headline hedge helmet
        hen heron hexagon highway hinge hippo history hive hockey holiday honey hood horizon horn horse
        hospital hotel hound hummus humor hunter hurdle hydrant iceberg icicle idea igloo iguana index
        inlet insect inventor iris island item ivory ivy jacket jade jaguar jam jasmine jeans jeep jelly
        jersey jetty jewel jigsaw joke journal juice jungle junior kangaroo kayak keeper kelp kernel
        kettle key kilt kimono kiosk kitchen kite kitten kiwi knapsack knight knot knuckle koala label
        lace ladder ladle ladybug lagoon lamb language lantern laptop laser lasso laundry laurel lava
        lavender lawyer leaf leather lecture legend lemon lemur lens leopard lesson lettuce lever liberty
        library lid lifeboat light lilac lily lime linen lion list lizard lobster locust lodge loft
        lollipop lotion luggage lullaby lumber lunar lunch lute macaroni machine magazine magnet magpie
        mailbox mammoth manager mandolin mango manor mansion mantis manual maple marathon marble margin
        marine market marmot mascot mask match mattress meadow meal mechanic melody memory menu mercury
        mermaid message meteor method midnight milk mint mirror mixer model moment monsoon moon morning
        mosaic mosquito moss moth motor motto movie muffin mule mural museum mustard nail name nanny
        napkin nature necklace needle neighbor nephew nest nickel niece noise noodle north notch notebook
        nougat novel nozzle nursery nylon oasis oatmeal oboe ocean octagon octopus office olive olympics
        omelet onion opal opera orange orbit orchard origami ostrich outfit outlet oven overalls owner
        oxygen oyster package paddle page paint pajamas palace palm pancake panda panel panorama panther
        papaya paper parade parcel parent partner passport pasta path patio pattern pavement peacock
        pebble pedal pelican pencil pendulum penguin pentagon pepper perfume person pharmacy pheasant
        phone piano pickle picnic picture pigeon pillow pilot pinecone pioneer pipe pitcher pizza planet
        plaster plate player plaza pliers plum pocket podium polygon poncho pool popcorn poplar porch
        porpoise porridge portrait postcard potato potter powder prairie prawn present pretzel printer
        prize problem program pudding pulley pump pupil puppet puzzle python quail quarry question quilt
        quiver quiz quote rabbit raccoon radar radio raft railway rainbow raisin rake ramp ranger rattle
        raven receipt recipe record redwood referee relay remedy report reptile rescue reward rhino
        rhubarb ribbon rider ring ripple road roller roof rooster rope rowboat royalty rubber ruler runway
        sack safari sailor salad salmon salt sandal sardine satin sauce sauna sausage sawmill scale scarf
        scene school science scissors scooter score scout screen script sculptor seagull seahorse season
        seaweed second secret section seed seminar sensor sequel sesame shadow shampoo shark shawl sheep
        shelf sherbet shingle shirt shoe shorts shovel shower shrimp shrub shuttle siding signal silver
        siren sister skunk sky sleeve slipper smile smith sneaker snorkel snow soap soccer society sonata
        soprano souvenir sparrow spatula spice spider spinach spiral splash spoke sponge spoon sport
        spring sprout spruce squirrel stable stadium stage stair stall stamp statue steam steeple step
        stick stilts stocking stork straw street stripe student success sugar suitcase summer sundial
        sunrise sunset surfer surgeon surprise swallow swan sweater swimmer switch symphony system tablet
        taco tadpole talent tapestry taxi teacher teapot telegram tempo tennis tent terrace texture
        theater thermos thimble thistle thread thunder ticket tide tiger timber tinsel title toaster
        toboggan tofu token tomato tonic tooth topaz tortoise toucan tour towel town tractor trade traffic
        trail trapeze traveler tray treasure triangle tribute tripod trophy trousers truck truffle trumpet
        tuba tulip tundra tureen turf turnip turtle tutor tuxedo tweezers twig twine twist ukulele umpire
        uncle unicorn uniform vacuum valve vanilla vase vault vector vehicle veil velvet veranda verse
        vessel viaduct video village vine violet visitor vitamin voice volcano volume vulture waffle wagon
        waiter walker wall walnut walrus waltz wardrobe washer wasp wave wealth wedding weekend welder
        wheat wicker width wind winter wisdom witness wolf wombat wonder word worker wrapper wreath wrench
        wrinkle yacht yak yeast yoga yogurt youth zebra zenith zero zigzag zinc zipper zodiac zone zoo
        """
}
